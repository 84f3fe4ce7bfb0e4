"""What a run calls missing: only what it looked for where it could look."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from zhiku.ingest.ahead import Parsers
from zhiku.ingest.pipeline import Options, Tools, update_root
from zhiku.ingest.report import Report
from zhiku.ingest.rules import DiscoverRules
from zhiku.model import FileLook, KnownFile, LedgerEntry
from zhiku.ports import Chunker, WriteSession


class Session:
    """A write session that knows some files and is asked to store nothing."""

    def __init__(self, *known: str) -> None:
        self._known = known
        self.cleared_within: str | None = None

    def view(self) -> Session:
        return self

    def known_files(self, root: str) -> dict[str, KnownFile]:
        return {path: _known(root, path) for path in self._known}

    def settled_files(self, root: str) -> Iterator[FileLook]:
        return (_known(root, path)[1:2] + _known(root, path)[3:6] for path in self._known)

    def textless_files(self, root: str) -> list[str]:
        return []

    def ledger(self, root: str) -> list[LedgerEntry]:
        return []

    def files_with(self, sha256: str) -> list[KnownFile]:
        return []

    def put_notes(self, root: str, entries: Iterable[LedgerEntry], *, within: str = "") -> None:
        self.cleared_within = within


def _known(root: str, path: str) -> KnownFile:
    file = Path(root, path)
    status = file.stat() if file.exists() else None
    looks = (status.st_size, status.st_mtime_ns, status.st_ctime_ns) if status else (1, 1, 1)
    return KnownFile(root, path, 1, *looks, sha256="0" * 64, format="text", chunk_count=1, pruned=0, forgotten=0)


def update(session: Session, root: Path, within: Path | None = None) -> Report:
    def refuse(_: str) -> Any:
        raise AssertionError("nothing is to be parsed")

    rules = DiscoverRules(endings=frozenset({".md"}), text_endings=frozenset({".md"}), looks_like_text=lambda _: True)
    tools = Tools(
        rules=rules,
        chunker=cast(Chunker, None),
        reader="test",
        parsers=Parsers(format_of=refuse, parser_for=refuse, needs_worker=cast(Any, refuse)),
    )
    return update_root(cast(WriteSession, session), root, tools, Options(within=within))


def test_nothing_is_missing_under_a_root_that_is_gone(tmp_path: Path) -> None:
    session = Session("a.md", "docs/b.md")
    report = update(session, tmp_path / "unplugged")
    assert report.missing == 0
    assert [(entry.path, entry.code) for entry in report.failed] == [("", "unreadable")]


def test_nothing_is_missing_under_a_root_that_is_empty_as_one_that_is_not_mounted_is(tmp_path: Path) -> None:
    report = update(Session("a.md", "docs/b.md"), tmp_path)
    assert report.missing == 0
    assert [(entry.path, entry.code) for entry in report.failed] == [("", "root_empty")]


def test_what_is_gone_from_a_root_that_holds_something_is_missing(tmp_path: Path) -> None:
    (tmp_path / "c.md").touch()
    report = update(Session("a.md", "c.md", "docs/b.md"), tmp_path)
    assert (report.gone, report.unchanged) == (["a.md", "docs/b.md"], 1)


def test_only_the_part_that_was_walked_can_have_something_missing(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    session = Session("a.md", "docs/b.md", "docs2/c.md")
    assert update(session, tmp_path, tmp_path / "docs").missing == 1
    assert session.cleared_within == "docs"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_a_part_may_be_spelled_through_another_link_than_the_root(tmp_path: Path) -> None:
    (tmp_path / "real" / "docs").mkdir(parents=True)
    (tmp_path / "alias").symlink_to("real")
    (tmp_path / "real" / "c.md").touch()
    session = Session("a.md", "c.md", "docs/b.md")
    assert update(session, tmp_path / "real", tmp_path / "alias" / "docs").missing == 1
    assert update(session, tmp_path / "alias", tmp_path / "real").missing == 2
    assert session.cleared_within == ""
