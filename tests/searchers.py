"""A process that searches again and again while others write, and counts what fails; to be run as a file.

With NO_WAL set, the file system cannot do SQLite's WAL.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from zhiku.answer import Query
from zhiku.errors import NotFound
from zhiku.service.library import Library

RUN_TIMEOUT_S = 180


class Searchers:
    """Several such processes over one home, until they are stopped."""

    def __init__(self, home: Path, count: int, query: str, **environ: str) -> None:
        self._processes = [
            subprocess.Popen(
                [sys.executable, __file__, str(home), query],
                env={**os.environ, **environ},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(count)
        ]
        for process in self._processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"

    def stop(self) -> list[dict[str, Any]]:
        """Return for each what it met: `searches`, `found`, and `failures` with their messages."""
        told = [process.communicate("stop\n", timeout=RUN_TIMEOUT_S)[0] for process in self._processes]
        return [json.loads(text) for text in told]


def search_until_told(home: Path, query: str) -> dict[str, Any]:
    """Search anew each time, as a command does, until a line comes on standard input."""
    searches, found, failures = 0, 0, []
    while not _is_told():
        searches += 1
        try:
            found += len(Library(home).search(Query(text=query, mode="lexical"))) > 0
        except NotFound:  # nothing is indexed yet
            time.sleep(0.01)
        except Exception as error:
            failures.append(f"{type(error).__name__}: {error}")
    return {"searches": searches, "found": found, "failures": failures}


def _is_told() -> bool:
    import select

    return bool(select.select([sys.stdin], [], [], 0)[0])


if __name__ == "__main__":
    from no_wal import NoSharedMemory

    file_system = NoSharedMemory() if os.environ.get("NO_WAL") else None
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdout.write(json.dumps(search_until_told(Path(sys.argv[1]), sys.argv[2])))
