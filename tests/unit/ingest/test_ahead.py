"""Files are read in order, those that are parsed elsewhere also ahead."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from zhiku.errors import ParseFailed, Unreadable
from zhiku.ingest import ahead
from zhiku.ingest.ahead import FilesAhead, Parsers
from zhiku.ingest.rules import Found
from zhiku.model import ParsedDocument, Source

WAIT_S = 10


class Parser:
    """Parses anything, and remembers what and where; `before` is called first."""

    def __init__(self, before: Callable[[str], None] = lambda path: None) -> None:
        self.before = before
        self.seen: list[str] = []
        self.threads: set[int] = set()

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        self.seen.append(source.path)
        self.threads.add(threading.get_ident())
        self.before(source.path)
        return ParsedDocument(text=data.decode(), blocks=())


@contextmanager
def files_of(
    folder: Path, parser: Parser, texts: dict[str, str], *, jobs: int = 2, known: Sequence[Source] = ()
) -> Iterator[FilesAhead]:
    """Yield the files of a folder; those that end with .pdf are parsed elsewhere."""
    for path, text in texts.items():
        (folder / path).write_text(text)
    wanted = [Found(path, size_bytes=len(text), mtime_ns=1, ctime_ns=1) for path, text in texts.items()]
    parsers = Parsers(
        format_of=lambda path: path.rpartition(".")[2],
        parser_for=lambda name: parser,
        needs_worker=lambda name, size_bytes: name == "pdf",
        jobs=jobs,
    )
    known_content = frozenset(source.sha256 for source in known)
    with closing(FilesAhead(folder, parsers, wanted, known_content)) as files:
        yield files


def test_every_file_gives_its_own_document_in_any_mixture(tmp_path: Path) -> None:
    texts = {f"{n:02}.{'pdf' if n % 3 else 'md'}": f"text {n}" for n in range(30)}
    parser = Parser()
    with files_of(tmp_path, parser, texts, jobs=3) as files:
        readings = [files.read(path) for path in texts]
        assert [reading.parse().text for reading in readings] == list(texts.values())
    assert [reading.source.path for reading in readings] == list(texts)
    assert sorted(parser.seen) == list(texts)


def test_files_that_need_no_worker_are_parsed_where_they_are_asked_for(tmp_path: Path) -> None:
    parser = Parser()
    with files_of(tmp_path, parser, {"a.md": "a", "b.txt": "b"}) as files:
        reading = files.read("a.md")
        assert parser.seen == []
        reading.parse()
    assert parser.threads == {threading.get_ident()}


def test_as_many_files_as_jobs_are_parsed_at_once(tmp_path: Path) -> None:
    together = threading.Barrier(3, timeout=WAIT_S)
    parser = Parser(lambda path: together.wait() and None)
    with files_of(tmp_path, parser, {f"{n}.pdf": "" for n in range(6)}, jobs=3) as files:
        assert [files.read(f"{n}.pdf").parse().text for n in range(6)] == [""] * 6
    assert len(parser.threads) == 3


def test_no_more_is_begun_than_may_be_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "MAX_BYTES_AHEAD", 10)
    parser = Parser()
    texts = {f"{n}.pdf": "x" * 8 for n in range(9)}
    with files_of(tmp_path, parser, texts, jobs=4) as files:
        files.read("0.pdf")
        files.close()
        files._threads.shutdown(wait=True)
    assert len(parser.seen) <= 3


def test_an_error_is_told_when_its_turn_comes(tmp_path: Path) -> None:
    def refuse(path: str) -> None:
        if path == "b.pdf":
            raise ParseFailed("{path} is bad", path=path)

    with files_of(tmp_path, Parser(refuse), {"a.pdf": "a", "b.pdf": "b", "c.pdf": "c", "d.pdf": "d"}) as files:
        (tmp_path / "d.pdf").unlink()
        assert files.read("a.pdf").parse().text == "a"
        reading = files.read("b.pdf")
        with pytest.raises(ParseFailed, match=r"b\.pdf is bad"):
            reading.parse()
        assert files.read("c.pdf").parse().text == "c"
        with pytest.raises(Unreadable):
            files.read("d.pdf")


def test_content_that_is_known_is_parsed_only_if_it_is_asked_for(tmp_path: Path) -> None:
    known = Source(root="", path="old.pdf", size_bytes=1, mtime_ns=1, sha256=hashlib.sha256(b"same").hexdigest())
    parser = Parser()
    with files_of(tmp_path, parser, {"new.pdf": "same", "other.pdf": "other"}, known=[known]) as files:
        reading = files.read("new.pdf")
        files.read("other.pdf")
        assert parser.seen == ["other.pdf"]
        assert reading.parse().text == "same"


def test_nothing_more_is_begun_after_the_end(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait(path: str) -> None:
        if path == "1.pdf":
            begun.set()
            assert go_on.wait(WAIT_S)

    parser = Parser(wait)
    with files_of(tmp_path, parser, {f"{n}.pdf": "" for n in range(9)}, jobs=1) as files:
        files.read("0.pdf")
        assert begun.wait(WAIT_S)
        files.close()
        go_on.set()
        files._threads.shutdown(wait=True)
    assert parser.seen == ["0.pdf", "1.pdf"]
