"""Taking documents out of search at the user's word, and taking that back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zhiku.errors import NotFound, UsageError
from zhiku.ingest.record import tokens_of
from zhiku.locator import SCHEME, parse_locator
from zhiku.model import Document
from zhiku.ports import ReadSession, WriteSession
from zhiku.retrieve.freshness import file_of
from zhiku.retrieve.read import document_of, find_document
from zhiku.service.targets import as_paths
from zhiku.text.analyze import Analyzer


@dataclass(frozen=True, kw_only=True)
class Forgetting:
    """What became of the documents that were named."""

    done: tuple[Document, ...]
    """Those that are forgotten now, or no longer, as they were before."""
    already: tuple[Document, ...]
    """Those that were so before."""


def forget(session: WriteSession, documents: Sequence[Document]) -> Forgetting:
    """Take documents out of search; they stay in the record, and later runs leave their files alone."""
    fresh = [document for document in documents if "forgotten" not in document.hidden_by]
    for document in fresh:
        session.hide(document.doc_id, "forgotten")
    return _outcome(documents, fresh)


def unforget(session: WriteSession, documents: Sequence[Document]) -> Forgetting:
    """Undo `forget`: what it took out of search is searched again. What a prune took out stays out."""
    fresh = [document for document in documents if "forgotten" in document.hidden_by]
    analyzer, view = Analyzer(), session.view()
    for document in fresh:
        if session.show(document.doc_id, "forgotten"):
            session.put_tokens(document.doc_id, tokens_of(view, document.doc_id, analyzer))
    return _outcome(documents, fresh)


def _outcome(documents: Sequence[Document], fresh: Sequence[Document]) -> Forgetting:
    done = {each.doc_id for each in fresh}
    return Forgetting(done=tuple(fresh), already=tuple(each for each in documents if each.doc_id not in done))


def find_documents(session: ReadSession, base: str, names: Sequence[str]) -> list[Document]:
    """Return what a user names, each once: documents by id or locator, files, or all at or below a folder.

    A path is looked for as it is, whether or not it exists now, then as the end of one document's path.
    Raises `NotFound`, or `UsageError` for a locator of another base and for an empty name.
    """
    found = (document for name in names for document in _named(session, base, name))
    return list({document.doc_id: document for document in found}.values())


def _named(session: ReadSession, base: str, name: str) -> list[Document]:
    if not name.strip():
        raise UsageError("a path is empty.", hint="name a document: zhiku list --documents --base {base}", base=base)
    if name.startswith(SCHEME):
        locator = parse_locator(name)
        if locator.base != base:
            raise UsageError(
                "{locator} is in base {other!r}, not in {base!r}.",
                locator=name,
                other=locator.base,
                base=base,
                hint="name its base: --base {other}",
            )
        return [document_of(session, locator)]
    if name.isascii() and name.isdigit() and not Path(name).exists():
        return [_by_id(session, base, int(name))]
    real = Path(os.path.realpath(*as_paths([name])))
    found = [each for each in session.documents() if file_of(each).is_relative_to(real)]
    if found:
        return found
    return [find_document(session, name)]


def _by_id(session: ReadSession, base: str, doc_id: int) -> Document:
    document = session.document(doc_id)
    if document is None:
        raise NotFound(
            "base {base!r} has no document {doc_id}.",
            base=base,
            doc_id=doc_id,
            hint="see which there are: zhiku list --documents --base {base}",
        )
    return document
