"""Commands about bases: list, status and delete."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from zhiku.cli import options, render
from zhiku.cli.command import Command, session_of
from zhiku.cli.session import Session
from zhiku.errors import ConfigError, IndexStateError, UsageError

if TYPE_CHECKING:
    from zhiku.cli.screen import Screen
    from zhiku.model import Document
    from zhiku.service.base import Base
    from zhiku.service.library import Library

T = TypeVar("T")


@click.command("list", cls=Command, help="List bases with what they hold, or the documents in them.")
@click.option("--documents", "wants_documents", is_flag=True, help="List documents instead of bases.")
@options.bases
@options.formats("text", "json")
@click.pass_context
def list_(ctx: click.Context, wants_documents: bool, names: tuple[str, ...], form: str) -> int:
    session = session_of(ctx)
    bases = chosen_bases(session, names)
    return _list_documents(session, bases, form) if wants_documents else _list_bases(session, bases, form)


def _list_bases(session: Session, bases: Sequence[Base], form: str) -> int:
    from zhiku.cli.bases import bases_table

    statuses, code = ask_each(session, bases, lambda base: base.status(look=False))
    if form == "json":
        render.out_json({"bases": [status.summary() for status in statuses]})
    elif statuses:
        render.out_lines(bases_table(statuses, session.screen))
    return code


def _list_documents(session: Session, bases: Sequence[Base], form: str) -> int:
    from zhiku.cli.bases import documents_table

    found, code = ask_each(session, bases, lambda base: (base, base.documents() if base.exists() else []))
    if form == "json":
        documents = [each for base, known in found for each in _described(base, known)]
        render.out_json({"documents": documents})
    elif rows := [(base.name, document) for base, known in found for document in known]:
        render.out_lines(documents_table(rows, session.screen))
    return code


def _described(base: Base, documents: Sequence[Document]) -> list[dict[str, Any]]:
    states = base.file_states() if documents else {}
    return [_document(base.name, document, states[document.doc_id]) for document in documents]


def _document(base: str, document: Document, state: str) -> dict[str, Any]:
    return {
        "base": base,
        "doc_id": document.doc_id,
        "root": document.source.root,
        "path": document.source.path,
        "title": document.title,
        "format": document.format,
        "encoding": document.encoding,
        "state": document.state,
        "hidden_by": list(document.hidden_by),
        "file_state": state,
        "chunks": document.chunk_count,
        "chars": document.chars,
        "pages": document.page_count,
        "size_bytes": document.source.size_bytes,
        "indexed_at": document.indexed_at,
        "metadata": dict(document.metadata),
        "warnings": list(document.warnings),
    }


@click.command(cls=Command, help="Show what a base holds, what could not be read and why, and what to do next.")
@options.bases
@options.formats("text", "json")
@click.pass_context
def status(ctx: click.Context, names: tuple[str, ...], form: str) -> int:
    from zhiku.cli.bases import status_lines

    session = session_of(ctx)
    statuses, code = ask_each(session, chosen_bases(session, names), lambda base: base.status())
    if form == "json":
        render.out_json({"bases": [status.to_dict() for status in statuses]})
        return code
    for i, status in enumerate(statuses):
        if i:
            render.out("")
        render.out_lines(status_lines(status, session.screen))
    return code


@click.command(cls=Command, help="Remove a base: its index and its settings. Your files are not touched.")
@click.argument("name", metavar="BASE")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.wait
@click.pass_context
def delete(ctx: click.Context, name: str, yes: bool, wait: bool) -> None:
    session = session_of(ctx)
    library = session.library()
    base = library.open(name)
    render.note(_loss(base, session.errors))
    if not yes and not _confirmed(session, base.name):
        render.note(session.errors.tr("Nothing was removed."))
        return
    library.delete(base.name, wait_s=math.inf if wait else 0.0)
    render.out(session.screen.tr("Removed base {name}.", name=base.name))


def _loss(base: Base, screen: Screen) -> str:
    try:
        count = base.status(look=False).totals.documents
    except (ConfigError, IndexStateError):
        return screen.tr(
            "Base {name}, which cannot be read, in {folder}; your files are not touched.",
            name=base.name,
            folder=base.folder,
        )
    return screen.tr(
        "Base {name}: the index of {count} documents in {folder}; your files are not touched.",
        name=base.name,
        count=count,
        folder=base.folder,
    )


def _confirmed(session: Session, name: str) -> bool:
    if not (sys.stdin.isatty() and session.errors.is_terminal):
        raise UsageError("removing base {name!r} needs a yes.", name=name, hint="say it: zhiku delete {name} --yes")
    return render.ask(session.errors.tr("Remove base {name}? [y/N]", name=name)).casefold() in render.YES


def chosen_bases(session: Session, names: Sequence[str]) -> list[Base]:
    """Return the bases named, or all; where there is none, the reader learns how to make one."""
    library: Library = session.library()
    found = library.resolve(names) if names else list(library.bases())
    if not found:
        render.note(session.errors.tr("There is no base yet. Make one: zhiku index PATH"))
    return found


def ask_each(session: Session, bases: Sequence[Base], ask: Callable[[Base], T]) -> tuple[list[T], int]:
    """Return what each base answers, and the exit code; one that cannot answer does not keep the others from it."""
    answers, code = [], 0
    for base in bases:
        try:
            answers.append(ask(base))
        except (ConfigError, IndexStateError) as error:
            render.error(error, session.language)
            code = error.exit_code
    return answers, code
