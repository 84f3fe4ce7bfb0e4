"""Faults that other tools have been reported to have, as the cases of tests/cases.

Steps go through the library, but for those under an `env` step: these start real processes. Steps for parts that zhiku
does not have yet (`mcp`, `serve`, `doctor`) are passed over.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import Any

import apsw
import pytest

from samples import is_covered
from users import as_normal_user, common_folder
from zhiku.answer import Query
from zhiku.errors import QueryError
from zhiku.model import Document, StoredChunk
from zhiku.registry import PARSERS
from zhiku.service.library import Library
from zhiku.text.measure import estimate_tokens

CASES = Path(__file__).parents[1] / "cases"
TOOLS = CASES / "tools"
MAX_CHUNK_TOKENS = 400
PROCESS_TIMEOUT_S = 60
LATER = {"mcp", "serve", "doctor"}

CONDITIONS = {"": True, "docx": "docx" in PARSERS, "xlsx": "spreadsheet" in PARSERS, "ocr": False, "no ocr": True}
"""Under which an expectation holds."""

Hits = list[dict[str, Any]]


class Door:
    """The library, in this process; searches are by words, since by meaning something is always nearest."""

    def __init__(self, case: Path) -> None:
        self.library = Library(case / "home")

    def index(self, path: Path) -> None:
        self.library.index([path], embed=False)

    def search(self, text: str, source: str | None) -> Hits:
        hits: Hits = self.library.search(Query(text=text, source=source, mode="lexical")).to_dict()["hits"]
        return hits


class ProcessDoor(Door):
    """The command, each time in a process of its own."""

    def __init__(self, case: Path, shim: str | None, *, no_network: bool) -> None:
        super().__init__(case)
        self.network_log = case / "network.log"
        shims = [str(TOOLS.parent / shim)] if shim else []
        shims += [str(TOOLS / "shim_no_network")] if no_network else []
        self.environ = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(shims),
            "ZHIKU_HOME": str(self.library.home),
            "NETWORK_LOG": str(self.network_log),
        }
        self._prefix = ["unshare", "-rn"] if no_network and _can_unshare() else []

    def index(self, path: Path) -> None:
        self.run("-m", "zhiku", "index", str(path))

    def search(self, text: str, source: str | None) -> Hits:
        filters = ["--source", source] if source else []
        command = ["search", text, "--mode", "lexical", "--format", "json", *filters]
        hits: Hits = json.loads(self.run("-m", "zhiku", *command))["hits"]
        return hits

    def run(self, *args: str) -> str:
        command = [*self._prefix, sys.executable, *args]
        done = subprocess.run(
            command, env=self.environ, capture_output=True, encoding="utf-8", timeout=PROCESS_TIMEOUT_S, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout


def _can_unshare() -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0


class Run:
    """One case in a folder of its own; `results` are those of its steps so far."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.door = Door(folder)
        self.results: list[Any] = []
        self._stack = stack

    def do(self, step: dict[str, Any]) -> None:
        step = dict(step)
        op = step.pop("op")
        self.results.append(None if op in LATER else getattr(self, f"do_{op}")(**step))

    def do_env(self, shim: str | None = None, no_network: bool = False) -> None:
        self.door = ProcessDoor(self.folder, shim, no_network=no_network)

    def do_sh(self, file: str) -> None:
        if os.name == "nt":
            pytest.skip("needs a POSIX shell")
        subprocess.run(["sh", file], cwd=self.folder, check=True)
        self._stack.enter_context(as_normal_user(self.folder))

    def do_index(self, path: str, limit_s: float = PROCESS_TIMEOUT_S) -> None:
        began = time.monotonic()
        self.door.index(self.folder / path)
        assert time.monotonic() - began < limit_s

    def do_search(self, query: str, source: str | None = None) -> Hits | None:
        """Return the hits; None where the query is refused because it is blank, which is a message and no fault."""
        try:
            hits = self.door.search(query, source)
        except QueryError:
            if query.strip():
                raise
            return None
        for hit in hits:
            hit["file"] = Path(hit["file"]).relative_to(self.folder).as_posix()
        return hits

    def do_chunks(self) -> list[StoredChunk]:
        base = self.door.library.open("default")
        connection = apsw.Connection(str(base.folder / "index.sqlite3"), flags=apsw.SQLITE_OPEN_READONLY)
        ids = [chunk_id for (chunk_id,) in connection.execute("SELECT chunk_id FROM chunks ORDER BY 1")]
        connection.close()
        with base.reading() as session:
            return session.chunks(ids)

    def do_outline(self, path: str) -> list[str]:
        chains = [each.chunk.section for each in self.do_chunks() if self.shown(each.document) == path]
        return list(dict.fromkeys(title for chain in chains for title in chain))

    def do_links(self, path: str) -> dict[str, Counter[str]]:
        documents = self.door.library.open("default").documents()
        names = {name for each in documents for name in _names(each.source.path)}
        found: dict[str, Counter[str]] = {"resolved": Counter(), "unresolved": Counter()}
        for link in next(each for each in documents if self.shown(each) == path).links:
            if link.target and PurePosixPath(link.target).suffix in ("", ".md"):
                found["resolved" if link.target in names else "unresolved"][link.target] += 1
        return found

    def do_status(self) -> list[str]:
        status = self.door.library.open("default").status()
        return [(Path(entry.root) / entry.path).relative_to(self.folder).as_posix() for entry in status.ledger]

    def do_integrity(self) -> bool:
        file = self.door.library.open("default").folder / "index.sqlite3"
        connection = apsw.Connection(str(file))
        try:
            connection.execute("INSERT INTO lexical(lexical) VALUES ('integrity-check')")
            return connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        finally:
            connection.close()

    def do_open(self, path_from_step: int) -> bool:
        return (self.folder / self.results[path_from_step][0]["file"]).read_bytes() != b""

    def shown(self, document: Document) -> str:
        return (Path(document.source.root) / document.source.path).relative_to(self.folder).as_posix()


def _names(path: str) -> Iterator[str]:
    yield from (path, path.removesuffix(".md"), PurePosixPath(path).name, PurePosixPath(path).stem)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _files(hits: Hits, top_k: int | None = None) -> list[str]:
    return [hit["file"] for hit in hits[:top_k]]


def _failed_for(run: Run, reasons: dict[str, str]) -> bool:
    status = run.door.library.open("default").status()
    failed = {
        (Path(each.root) / each.path).relative_to(run.folder).as_posix(): each.code for each in status.noted("failed")
    }
    return reasons.items() <= failed.items()


def _covers_all_text(run: Run, chunks: list[StoredChunk]) -> bool:
    base = run.door.library.open("default")
    with base.reading() as session:
        for document in session.documents():
            text = "".join(piece.body for piece in session.text(document.doc_id))
            spans = [
                (each.chunk.char_start, each.chunk.char_end)
                for each in chunks
                if each.document.doc_id == document.doc_id
            ]
            if not is_covered(text, spans):
                return False
    return True


# What an expectation says of the result of its step.
CHECKS: dict[str, Callable[[Run, Any, Any], bool]] = {
    "top1": lambda _, hits, file: _files(hits, 1) == [file],
    "contains": lambda _, hits, file: file in _files(hits, 3),
    "contains_nfc": lambda _, hits, file: _nfc(file) in map(_nfc, _files(hits, 3)),
    "only": lambda _, hits, files: set(_files(hits)) == set(files),
    "empty": lambda _, hits, __: hits == [],
    "section": lambda _, hits, chain: list(hits[0]["section"]) == chain,
    "line": lambda _, hits, line: hits[0]["line_start"] == line,
    "page": lambda _, hits, page: hits[0]["page"] == page,
    "snippet_contains": lambda _, hits, text: text in hits[0]["text"],
    "no_error": lambda _, __, ___: True,  # an error would have ended the run
    "not_contains_text": lambda _, hits, text: not any(text in hit["text"] for hit in hits),
    "no_text": lambda _, chunks, texts: (
        chunks and not any(text in each.chunk.text for each in chunks for text in texts)
    ),
    "no_char": lambda _, chunks, char: chunks and not any(char in each.chunk.text for each in chunks),
    "max_len": lambda _, chunks, __: all(estimate_tokens(each.chunk.text) <= MAX_CHUNK_TOKENS for each in chunks),
    "covers_all_text": lambda run, chunks, _: _covers_all_text(run, chunks),
    "headings": lambda _, found, titles: found == titles,
    "resolved": lambda _, links, counts: links["resolved"] == counts,
    "unresolved": lambda _, links, targets: list(links["unresolved"]) == targets,
    "absent": lambda _, links, targets: not set(targets) & {*links["resolved"], *links["unresolved"]},
    "skipped_contains": lambda _, listed, paths: set(paths) <= set(listed),
    "failed": lambda run, _, reasons: _failed_for(run, reasons),
    "ok": lambda _, result, expected: result == expected,
    "readable": lambda _, result, expected: result == expected,
    "outgoing": lambda run, _, count: count == 0 and not run.door.network_log.exists(),  # type: ignore[attr-defined]
}


def _check(run: Run, steps: list[dict[str, Any]], expectation: dict[str, Any]) -> None:
    wanted = dict(expectation)
    step = wanted.pop("step", None)
    assert wanted.pop("topk", 3) == 3
    if not CONDITIONS[wanted.pop("if", "")]:
        return
    if step is not None and steps[step]["op"] in LATER:
        return
    result = None if step is None else run.results[step]
    for key, value in wanted.items():
        assert CHECKS[key](run, result, value), (steps[step] if step is not None else "", key, value, result)


@pytest.mark.parametrize("name", sorted(path.parent.name for path in CASES.glob("*/case.json")))
def test_a_reported_fault_is_not_ours(name: str) -> None:
    case = json.loads((CASES / name / "case.json").read_text("utf-8"))
    with common_folder() as folder, ExitStack() as stack:
        shutil.copytree(CASES / name, folder / name, symlinks=True)
        run = Run(folder / name, stack)
        for step in case["steps"]:
            run.do(step)
        for expectation in case["expect"]:
            _check(run, case["steps"], expectation)


@pytest.mark.parametrize("shim", ["shim_no_ext", "shim_old_sqlite"])
def test_zhiku_works_whatever_the_sqlite3_module_can_do(shim: str, tmp_path: Path) -> None:
    shutil.copytree(CASES / "B75" / "kb", tmp_path / "kb")
    door = ProcessDoor(tmp_path, f"tools/{shim}", no_network=False)
    probe = "import sqlite3; print(sqlite3.sqlite_version, hasattr(sqlite3.connect(''), 'load_extension'))"
    assert ("3.31.1" if shim == "shim_old_sqlite" else "False") in door.run("-c", probe)

    door.index(tmp_path / "kb")
    assert [hit["path"] for hit in door.search("石墨", None)] == ["a.md"]


def test_the_guard_against_the_network_sees_a_connection(tmp_path: Path) -> None:
    door = ProcessDoor(tmp_path, None, no_network=True)
    connect = "import socket\ntry: socket.create_connection(('192.0.2.1', 80), 1)\nexcept OSError: pass"
    door.run("-c", connect)
    assert "192.0.2.1" in door.network_log.read_text()
