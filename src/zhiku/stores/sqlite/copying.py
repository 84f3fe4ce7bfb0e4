"""Copies of an index: all of it by SQLite's backup, which is whole whoever reads or writes meanwhile; or its record."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw

from zhiku.stores.sqlite import packing
from zhiku.stores.sqlite.connection import check_record, open_for_writing, open_whole, translated, unrepairable
from zhiku.stores.sqlite.schema import RECORD


def copy(origin: Path, target: Path) -> None:
    """Copy an index to a file that does not exist yet, in one piece: nothing of it is in a log beside the file.

    Raises `IndexStateError` where it is no index that this program knows.
    """
    check_record(origin)
    with (
        translated(target),
        closing(open_whole(origin)) as source,
        closing(apsw.Connection(str(target))) as copied,
    ):
        with copied.backup("main", source, "main") as backup:
            backup.step(-1)
        copied.execute("PRAGMA journal_mode=DELETE")


def copy_record(origin: Path, target: Path) -> None:
    """Make an index that has another's record, and what is searched by meaning made from it; of words, nothing yet.

    An index of an older schema will do: what it lacks has its default. Raises `Damaged` where it cannot be read.
    """
    check_record(origin)
    connection = open_for_writing(target)
    with closing(connection), translated(origin):
        connection.execute("ATTACH ? AS origin", (str(origin),))
        try:
            with connection:
                for table in RECORD:
                    columns = ", ".join(_columns(connection, "main", table) & _columns(connection, "origin", table))
                    connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM origin.{table}")
                packing.make_packs(connection)
        except (apsw.ConstraintError, apsw.SQLError) as error:  # the statements are right, so the tables are not
            raise unrepairable(origin, error) from error
        connection.execute("DETACH origin")


def _columns(connection: apsw.Connection, schema: str, table: str) -> set[str]:
    found = connection.execute("SELECT name FROM pragma_table_info(?, ?)", (table, schema))
    return {str(name) for (name,) in found}


def compact(path: Path) -> None:
    """Write a file anew without gaps, and put all of it on the disk."""
    with translated(path), closing(apsw.Connection(str(path))) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
