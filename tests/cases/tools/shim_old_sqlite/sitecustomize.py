"""A Python with SQLite 3.31: no trigram tokenizer, no RETURNING, no full text."""

import re
import sqlite3
import sqlite3.dbapi2
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import shim_common


def _check(sql: str) -> None:
    if re.search(r"using\s+fts5", sql, re.IGNORECASE):
        raise sqlite3.OperationalError("no such module: fts5")
    if re.search(r"\breturning\b", sql, re.IGNORECASE):
        raise sqlite3.OperationalError('near "RETURNING": syntax error')


for module in (sqlite3, sqlite3.dbapi2):
    module.sqlite_version = "3.31.1"
    module.sqlite_version_info = (3, 31, 1)
shim_common.install(check=_check)
