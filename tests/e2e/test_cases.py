"""Faults that other tools have been reported to have, as the cases of tests/cases.

Steps go through the library, but for those under an `env` step, and what runs at once or is killed: these start real
processes. Steps for parts that zhiku does not have yet (`serve`, `doctor`) are passed over.
"""

from __future__ import annotations

import json
import os
import random
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

import fakes
from agents import INITIALIZE, Lines
from case_doors import CASES, PROCESS_TIMEOUT_S, Door, Hits, ProcessDoor, has_endpoint
from fakes import FakeEmbedder
from samples import is_covered
from scans import needs_ocr
from searchers import Searchers
from users import as_normal_user, common_folder
from zhiku.errors import QueryError
from zhiku.model import Document, StoredChunk
from zhiku.registry import PARSERS
from zhiku.text.measure import estimate_tokens

MAX_CHUNK_TOKENS = 400
BUSY = 7
LATER = {"serve", "doctor"}

CONDITIONS = {"": True, "docx": "docx" in PARSERS, "xlsx": "spreadsheet" in PARSERS}
"""Under which an expectation holds; besides `ocr` and `no ocr`: a case that tells them apart is run both ways."""


class Run:
    """One case in a folder of its own; `results` are those of its steps so far.

    With an embedder, what is indexed is embedded too; `embedded` counts what it was given until each step ended.
    """

    def __init__(
        self, folder: Path, stack: ExitStack, embedder: FakeEmbedder | None = None, *, ocr: bool = False
    ) -> None:
        self.folder = folder
        self.door = Door(folder, embed=embedder is not None, ocr=ocr)
        self.results: list[Any] = []
        self.embedded: list[int] = []
        self._embedder = embedder
        self._stack = stack

    def do(self, step: dict[str, Any]) -> None:
        self.results.append(self._do(step))
        self.embedded.append(len(self._embedder.seen) if self._embedder else 0)

    def _do(self, step: dict[str, Any]) -> Any:
        step = dict(step)
        op = step.pop("op")
        return None if op in LATER else getattr(self, f"do_{op}")(**step)

    def do_env(self, shim: str | None = None, no_network: bool = False) -> None:
        self.door = ProcessDoor(self.folder, shim, no_network=no_network)

    def do_sh(self, file: str) -> None:
        if os.name == "nt":
            pytest.skip("needs a POSIX shell")
        subprocess.run(["sh", file], cwd=self.folder, check=True)
        if "chmod" in (self.folder / file).read_text("utf-8"):
            self._stack.enter_context(as_normal_user(self.folder))

    def do_glossary_load(self, path: str) -> None:
        self.door.glossary = self.folder / path

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

    def do_parallel(self, jobs: list[dict[str, Any]]) -> dict[str, int]:
        """Do jobs at once; searches go on until the last other one has ended."""
        loops = [job for job in jobs if job["op"] == "loop"]
        searchers = [Searchers(self.door.library.home, job["clients"], job["do"]["query"]) for job in loops]
        runs = []
        for job in (job for job in jobs if job["op"] == "index"):
            time.sleep(job.get("delay", 0.0))
            runs.append(self.start("index", job["path"]))
        for run in runs:
            _, errors = run.communicate(timeout=PROCESS_TIMEOUT_S)
            others = [f"(process {other.pid})" for other in runs if other is not run]
            assert run.returncode == 0 or (run.returncode == BUSY and any(each in errors for each in others)), errors
        told = [each for group in searchers for each in group.stop()]
        assert all(each["searches"] > 0 for each in told)
        return {"failed_searches": sum(len(each["failures"]) for each in told)}

    def do_kill_loop(self, times: int, do: dict[str, Any], then: list[dict[str, Any]]) -> list[list[Any]]:
        """Kill a run again and again, at instants spread over all of it, and return what the steps after each gave."""
        shutil.copytree(self.door.library.home, self.folder / "copy")
        began = time.monotonic()
        self.start(do["op"], do["path"], home=self.folder / "copy").communicate(timeout=PROCESS_TIMEOUT_S)
        run_s = time.monotonic() - began
        parts = [(i + random.random()) / times for i in range(times)]
        random.shuffle(parts)
        results = []
        for part in parts:
            with self.start(do["op"], do["path"]) as run:
                time.sleep(part * run_s)
                run.kill()
            results.append([self._do(step) for step in then])
        return results

    def start(self, *command: str, home: Path | None = None) -> subprocess.Popen[str]:
        environ = {**os.environ, "ZHIKU_HOME": str(home or self.door.library.home), "ZHIKU_LANG": "en"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = (sys.executable, "-m", "zhiku", *command)
        return subprocess.Popen(command, env=environ, cwd=self.folder, text=True, **pipes)

    def do_endpoint_log(self) -> None:
        """Do nothing: what was embedded is counted all the time."""

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

    def do_mcp(self, file: str = "", env: dict[str, str] | None = None) -> list[dict[str, Any]]:
        """Return what the server answers to the requests of a file, or to a first one; each line must be a message."""
        text = (self.folder / file).read_text("utf-8").replace("<search tool>", "kb_search") if file else ""
        requests = [json.loads(line) for line in text.splitlines()] or [INITIALIZE]
        with Lines({**self.door.process_environ, **(env or {})}, program=self.door.command("mcp")) as server:
            server.send(*requests)
            waiting = {request["id"] for request in requests if "id" in request}
            while waiting:
                waiting.discard(server.receive().get("id"))
            code, messages, said = server.end()
        assert code == 0
        assert "Traceback" not in said
        return messages

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


def _paths(run: Run) -> list[str]:
    return [document.source.path for document in run.door.library.open("default").documents()]


def _always(results: list[list[Any]], promise: str) -> bool:
    """Answer whether a promise of a case is kept each time: of its integrity, or that its hits are one or the other."""
    if promise == "integrity ok":
        return all(integrity is True for integrity, _ in results)
    words = [words.split()[-1] for words in promise.split(" or ")]
    return all(any(all(word in hit["text"] for hit in hits) for word in words) and hits for _, hits in results)


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
    "contains": lambda _, hits, wanted: wanted[0] in _files(hits, wanted[1]),
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
    "documents": lambda run, _, count: len(_paths(run)) == count,
    "duplicates": lambda run, _, count: len(_paths(run)) - len(set(_paths(run))) == count,
    "failed_searches": lambda _, result, count: result["failed_searches"] == count,
    "embedded_since": lambda run, _, wanted: (
        run.embedded[-1] - run.embedded[wanted["step"]] == wanted["count"] < run.embedded[0]
    ),
    "stdout_lines_json": lambda _, messages, __: all("result" in message for message in messages),
    "result_chars_max": lambda _, messages, most: (
        len(json.dumps(messages[-1]["result"], ensure_ascii=False)) <= most
        and not messages[-1]["result"].get("isError")
    ),
    "always": lambda _, results, promises: all(_always(results, promise) for promise in promises),
    "outgoing": lambda run, _, count: count == 0 and not run.door.network_log.exists(),
}


def _check(run: Run, steps: list[dict[str, Any]], expectation: dict[str, Any]) -> None:
    wanted = dict(expectation)
    step = wanted.pop("step", None)
    top_k = wanted.pop("topk", 3)
    if "contains" in wanted:
        wanted["contains"] = [wanted["contains"], top_k]
    if "texts_since_step" in wanted:
        wanted = {"embedded_since": {"step": wanted["texts_since_step"], "count": wanted["count"]}}
    conditions = {**CONDITIONS, "ocr": run.door.ocr, "no ocr": not run.door.ocr}
    if not conditions[wanted.pop("if", "")]:
        return
    if step is not None and steps[step]["op"] in LATER:
        return
    result = None if step is None else run.results[step]
    for key, value in wanted.items():
        assert CHECKS[key](run, result, value), (steps[step] if step is not None else "", key, value, result)


@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in CASES.glob("*/case.json") if not has_endpoint(path))
)
def test_a_reported_fault_is_not_ours(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _run_case(name, monkeypatch)


def test_a_term_with_digits_or_blanks_is_known_to_the_command_too(tmp_path: Path) -> None:
    case = json.loads((CASES / "B10" / "case.json").read_text("utf-8"))
    shutil.copytree(CASES / "B10", tmp_path / "B10")
    with ExitStack() as stack:
        run = Run(tmp_path / "B10", stack)
        for step in [{"op": "env"}, *case["steps"]]:
            run.do(step)
        del run.results[0]
        for expectation in case["expect"]:
            _check(run, case["steps"], expectation)


@needs_ocr
def test_a_reported_fault_of_ocr_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    _run_case("B27", monkeypatch, ocr=True)


def _run_case(name: str, monkeypatch: pytest.MonkeyPatch, *, ocr: bool = False) -> None:
    case = json.loads((CASES / name / "case.json").read_text("utf-8"))
    embedder = None
    if any(step["op"] == "endpoint_log" for step in case["steps"]):
        embedder = FakeEmbedder()
        fakes.install(monkeypatch, embedder)
        monkeypatch.setenv("ZHIKU_EMBEDDER", embedder.name)
    with common_folder() as folder, ExitStack() as stack:
        shutil.copytree(CASES / name, folder / name, symlinks=True)
        run = Run(folder / name, stack, embedder, ocr=ocr)
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
