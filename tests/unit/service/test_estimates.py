"""A dry run says what would be sent to an endpoint; it sends nothing and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from endpoints import Server, embedded, serving, texts_of
from shelf import Shelf
from zhiku.config import CONFIG_FILE
from zhiku.errors import ManifestMismatch
from zhiku.ingest.weigh import Estimate
from zhiku.service.library import Library
from zhiku.text.measure import estimate_tokens


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(lambda number, seen: embedded(seen)) as opened:
        yield opened


@pytest.fixture
def full(shelf: Shelf, server: Server, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.delenv("ZHIKU_EMBEDDER", raising=False)
    for name in ("one", "two", "three"):
        shelf.write(f"{name}.md", f"# {name}\n\nthe {name} pump is greased\n\n# 水泵\n\n密封圈每年更换 {name}\n")
    shelf.write("copy.md", (shelf.docs / "one.md").read_bytes())
    configure(shelf, server.url)
    return shelf


def configure(shelf: Shelf, url: str, model: str = "m", more: str = "") -> None:
    shelf.library.home.mkdir(exist_ok=True)
    section = f'[models.embedding]\napi_url = "{url}"\nmodel_name = "{model}"\n{more}'
    (shelf.library.home / CONFIG_FILE).write_text(section, "utf-8")
    shelf.library = Library(shelf.library.home)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not _is_passing(path)}


def _is_passing(path: Path) -> bool:
    """Answer whether SQLite makes a file for as long as the index is open."""
    return path.name.endswith(("-shm", "-wal"))


def foreseen(shelf: Shelf) -> Estimate:
    """Return what a dry run says; check that it leaves everything as it was."""
    before = files(shelf.library.home)
    estimate = shelf.library.preview([shelf.docs]).estimate
    assert files(shelf.library.home) == before
    assert estimate is not None
    return estimate


def check_run(shelf: Shelf, server: Server) -> int:
    """Run, and check that what is sent is what the dry run said; return how many texts that were."""
    asked = len(server.seen)
    estimate = foreseen(shelf)
    assert len(server.seen) == asked
    embedding = shelf.library.index([shelf.docs]).embedding
    assert embedding is not None
    assert embedding.failure is None
    sent = [text for texts in texts_of(server)[asked:] for text in texts]
    assert (len(sent), sum(map(estimate_tokens, sent))) == (estimate.texts, estimate.tokens)
    return len(sent)


def test_equal_texts_count_once(full: Shelf, server: Server) -> None:
    assert check_run(full, server) == 6


def test_only_what_has_no_vector_counts_also_of_changed_moved_and_returned_files(full: Shelf, server: Server) -> None:
    check_run(full, server)
    assert check_run(full, server) == 0
    full.write("two.md", (full.docs / "two.md").read_text("utf-8") + "\n# new\n\nanother part\n")
    (full.docs / "three.md").rename(full.docs / "moved.md")
    assert check_run(full, server) == 1
    (full.docs / "moved.md").rename(full.docs.parent / "away.md")
    full.library.index([full.docs], prune=True)
    (full.docs.parent / "away.md").rename(full.docs / "moved.md")
    assert check_run(full, server) == 0


def test_what_waits_in_the_base_counts_unless_its_file_changed(full: Shelf, server: Server) -> None:
    full.index()
    full.write("two.md", "# two\n\nall of it is other text")
    assert check_run(full, server) == 5


def test_a_forgotten_file_does_not_count(full: Shelf, server: Server) -> None:
    full.index()
    full.base.forget("two.md")
    full.write("two.md", "# two\n\nchanged, and still forgotten")
    assert check_run(full, server) == 4


def test_a_text_is_not_counted_beyond_what_is_sent_of_it(full: Shelf, server: Server) -> None:
    configure(full, server.url, more="max_input_tokens = 5\n")
    estimate = foreseen(full)
    assert (estimate.texts, estimate.tokens) == (6, 30)


def test_files_that_cannot_be_read_are_told_and_do_not_count(full: Shelf) -> None:
    full.write("broken.pdf", b"%PDF-1.7 and nothing else")
    preview = full.library.preview([full.docs])
    assert [(entry.path, entry.code) for each in preview for entry in each.report.failed] == [("broken.pdf", "damaged")]
    assert (preview.estimate is not None and preview.estimate.texts) == 6
    full.index()
    assert [entry.path for each in full.library.preview([full.docs]) for entry in each.report.failed] == ["broken.pdf"]


def test_pages_that_only_ocr_reads_are_told_apart(full: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zhiku.service.recognition.has_ocr", lambda: True)
    full.write("photo.png", b"not looked at without OCR")
    preview = full.library.preview([full.docs], ocr=True)
    assert preview.estimate is not None
    assert (preview.estimate.texts, preview.estimate.unseen) == (6, 1)


def test_where_text_is_not_sent_yet_the_dry_run_says_so(full: Shelf) -> None:
    configure(full, "https://models.example.com/v1")
    preview = full.library.preview([full.docs])
    assert preview.sending is not None
    assert (preview.sending.address, preview.sending.is_new) == ("https://models.example.com/v1/embeddings", True)


def test_another_model_is_told_as_the_run_would_and_nothing_counts(full: Shelf, server: Server) -> None:
    check_run(full, server)
    configure(full, server.url, model="other")
    asked = len(server.seen)
    preview = full.library.preview([full.docs])
    assert (preview.sending, preview.estimate) == (None, None)
    assert preview.embedding is not None
    assert isinstance(preview.embedding.failure, ManifestMismatch)
    assert len(server.seen) == asked


def test_without_an_endpoint_nothing_is_parsed(shelf: Shelf) -> None:
    shelf.write("broken.pdf", b"%PDF-1.7 and nothing else")
    preview = shelf.library.preview([shelf.docs])
    assert (preview.sending, preview.estimate, preview[0].report.failed) == (None, None, [])


def test_a_dry_sync_says_it_for_each_base(full: Shelf, server: Server) -> None:
    done = full.library.sync([full.docs.parent], dry_run=True)
    (base,) = [base for base in done.to_dict()["bases"] if base["name"] == "docs"]
    address = f"{server.url}/v1/embeddings"
    assert base["sending"]["texts"] == 6
    assert (base["sending"]["address"], base["sending"]["needs_yes"]) == (address, False)
    assert server.seen == []
    kept = full.library.sync([full.docs.parent], dry_run=True, embed=False)
    assert [base["sending"] for base in kept.to_dict()["bases"] if base["name"] == "docs"] == [None]
