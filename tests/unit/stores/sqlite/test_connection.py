"""How a base's file is opened."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from zhiku.stores.sqlite.connection import open_for_writing

IN_MEMORY = 2


def test_what_is_set_aside_while_a_base_is_written_goes_into_no_temporary_file(tmp_path: Path) -> None:
    with closing(open_for_writing(tmp_path / "index.sqlite3")) as connection:
        assert connection.pragma("temp_store") == IN_MEMORY
