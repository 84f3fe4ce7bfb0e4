"""The command on a file system that cannot do SQLite's WAL, as some network drives cannot; to be run as a file.

Files are those of the real file system, with its locks, but there is no memory that processes share beside them.
"""

from __future__ import annotations

import sys

import apsw


class NoSharedMemory(apsw.VFS):
    """Everything that the system's own does, but for shared memory; once made, it is the one that is used."""

    def __init__(self) -> None:
        self._system = apsw.vfs_names()[0]
        super().__init__("no-shared-memory", self._system, makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> _File:  # noqa: N802
        return _File(apsw.VFSFile(self._system, name, flags))


class _File:
    """Passes on what is asked of a file. Not being apsw's own class, it has none of the calls for shared memory."""

    def __init__(self, file: apsw.VFSFile) -> None:
        for name in dir(file):
            if name.startswith("x"):
                setattr(self, name, getattr(file, name))


if __name__ == "__main__":
    from zhiku.cli.main import main

    vfs = NoSharedMemory()
    sys.exit(main())
