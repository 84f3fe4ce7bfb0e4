"""What a run calls missing: only what it looked for where it could look."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from zhiku.ingest.ahead import Parsers
from zhiku.ingest.pipeline import Report, Tools, update_root
from zhiku.ingest.rules import DiscoverRules
from zhiku.model import Document, LedgerEntry, Source
from zhiku.ports import Chunker, WriteSession


class Session:
    """A write session that knows some files and is asked to store nothing."""

    def __init__(self, *known: str) -> None:
        self._known = known
        self.noted: list[str] = []
        self.cleared_within: str | None = None

    def known_files(self, root: str) -> dict[str, Document]:
        return {path: _document(root, path) for path in self._known}

    def note(self, entry: LedgerEntry) -> None:
        self.noted.append(entry.path)

    def clear_notes(self, root: str, keep: Iterable[str], within: str = "") -> None:
        self.cleared_within = within


def _document(root: str, path: str) -> Document:
    source = Source(root=root, path=path, size_bytes=1, mtime_ns=1, sha256="0" * 64)
    return Document(
        doc_id=1,
        source=source,
        title=path,
        format="text",
        encoding="utf-8",
        chars=1,
        chunk_count=1,
        page_count=0,
        indexed_at="",
    )


def update(session: Session, root: Path, within: Path | None = None) -> Report:
    def refuse(_: str) -> Any:
        raise AssertionError("nothing is to be parsed")

    rules = DiscoverRules(endings=frozenset({".md"}), text_endings=frozenset({".md"}), looks_like_text=lambda _: True)
    tools = Tools(
        rules=rules,
        chunker=cast(Chunker, None),
        parsers=Parsers(format_of=refuse, parser_for=refuse, needs_worker=cast(Any, refuse)),
    )
    return update_root(cast(WriteSession, session), root, tools, within=within)


def test_nothing_is_missing_under_a_root_that_is_gone(tmp_path: Path) -> None:
    session = Session("a.md", "docs/b.md")
    report = update(session, tmp_path / "unplugged")
    assert report.missing == 0
    assert [(entry.path, entry.code) for entry in report.failed] == [("", "unreadable")]


def test_what_is_gone_from_a_root_that_is_there_is_missing(tmp_path: Path) -> None:
    assert update(Session("a.md", "docs/b.md"), tmp_path).missing == 2


def test_only_the_part_that_was_walked_can_have_something_missing(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    session = Session("a.md", "docs/b.md", "docs2/c.md")
    assert update(session, tmp_path, tmp_path / "docs").missing == 1
    assert session.cleared_within == "docs"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_a_part_may_be_spelled_through_another_link_than_the_root(tmp_path: Path) -> None:
    (tmp_path / "real" / "docs").mkdir(parents=True)
    (tmp_path / "alias").symlink_to("real")
    session = Session("a.md", "docs/b.md")
    assert update(session, tmp_path / "real", tmp_path / "alias" / "docs").missing == 1
    assert update(session, tmp_path / "alias", tmp_path / "real").missing == 2
    assert session.cleared_within == ""
