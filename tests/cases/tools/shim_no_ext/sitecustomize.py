"""A Python whose `sqlite3` cannot load extensions, as on macOS."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import shim_common

shim_common.install(hidden=frozenset({"enable_load_extension", "load_extension"}))
