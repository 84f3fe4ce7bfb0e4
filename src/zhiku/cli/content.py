"""Commands about what documents say: index, search, grep and read."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from zhiku.cli import options, render
from zhiku.cli.command import Command, session_of
from zhiku.cli.session import Session
from zhiku.cli.values import LineRange, OneOf, Share, Whole
from zhiku.errors import UsageError

if TYPE_CHECKING:
    from zhiku.answer import Answer, Query
    from zhiku.service.base import Base
    from zhiku.service.indexing import IndexReport

NOTHING_MATCHED = 1
SOME_FAILED = 3
INTERRUPTED = 130

_INDEX_EXAMPLES = """\
zhiku index ~/notes
zhiku index ~/papers ~/manuals --base work --threads 4
zhiku index --base work
zhiku index ~/notes/2024 --prune
zhiku index ~/scans --ocr"""

_SEARCH_EXAMPLES = """\
zhiku search "who may open the gate"
zhiku search 门禁 权限 -b work -k 3 --source "*.pdf"
zhiku search "what to do before a storm" --min-relevance 0.4
zhiku search "who may open the gate" -k 30 --rerank --rerank-top-k 5
cat question.txt | zhiku search - --format json"""

_GREP_EXAMPLES = """\
zhiku grep gate-sync
zhiku grep -s BM25 --source papers/"""

_READ_EXAMPLES = """\
zhiku read field.md --lines 10-40
zhiku read wind.pdf --page 3
zhiku read "zhiku://notes/field.md?doc=2&chars=10-90#L3-9" --context 5"""


@click.command(
    cls=Command,
    epilog=_INDEX_EXAMPLES,
    help="Read folders or files into a base, or bring it up to date. A path inside a known root updates that part; no"
    " path means all roots of the base. Unchanged files are not read again, and your files are never written to. Words"
    " come first: they can be searched while the text is embedded, for search by meaning.",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("-b", "--base", "name", metavar="BASE", help="The base to read into: default, unless named.")
@click.option("--no-embed", is_flag=True, help="Words only; a later run without this option embeds what is missing.")
@click.option("--prune", is_flag=True, help="Take out of search what is gone from disk, under these paths alone.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and sent, and do nothing of it.")
@click.option("--check", is_flag=True, help="Read every file, whatever its size and times say.")
@options.ocr
@click.option("--force-ocr", is_flag=True, help="Recognise every page under PATH, also where it has text already.")
@click.option("--glossary", metavar="FILE", help='Use these terms and aliases for the base from now on; "" for none.')
@click.option("--threads", type=Whole(), default=1, help="How many cores embedding may use; 1, unless named.")
@click.option("--jobs", type=Whole(), help="How many PDFs are read at once; half the cores, unless named.")
@options.wait
@options.endpoint
@click.pass_context
def index(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    name: str | None,
    no_embed: bool,
    wait: bool,
    **work: Any,
) -> int:
    from zhiku.cli.announcing import announce_prune
    from zhiku.cli.dry import preview
    from zhiku.cli.endpoint import agreed, taken
    from zhiku.cli.progress import EmbeddingLine, ProgressLine
    from zhiku.config import DEFAULT_BASE

    if work["force_ocr"] and not paths:
        raise UsageError("--force-ocr needs a path.", hint="name the file or folder that was read as rubbish")
    session = session_of(ctx)
    session.set_up_log()
    name = name or DEFAULT_BASE
    yes, endpoint = taken(work)
    library = session.library(endpoint)
    if work.pop("dry_run"):
        return _exit_code(session, preview(session, library, name, paths, embed=not no_embed, **work))
    may_send = not no_embed and agreed(session, name, library.sending(name), yes=yes)
    try:
        with ProgressLine(session.errors) as progress:
            done = library.index(
                paths,
                name,
                embed=not no_embed,
                may_send=may_send,
                wait_s=math.inf if wait else 0.0,
                announce=partial(announce_prune, session.errors, name),
                **work,
                progress=progress,
                embed_progress=EmbeddingLine(session.errors),
            )
    except KeyboardInterrupt:
        return _interrupted(session)
    _print_report(session, library.open(name), done)
    if done.interrupted:
        return _interrupted(session)
    return _exit_code(session, done)


def _exit_code(session: Session, done: IndexReport) -> int:
    if done.embedding and done.embedding.failure:
        render.error(done.embedding.failure, session.language)
        return done.embedding.failure.exit_code
    return SOME_FAILED if any(each.report.failed for each in done) else 0


def _print_report(session: Session, base: Base, done: IndexReport) -> None:
    from zhiku.cli.reports import summary

    render.out(session.screen.tr("Base {name}", name=base.name))
    render.out_lines(session.screen.folded(summary(done, base.status(look=False), session.screen)))


def _interrupted(session: Session) -> int:
    render.note(session.errors.tr("Interrupted. What is done stays; the same command goes on from here."))
    return INTERRUPTED


@click.command(
    cls=Command,
    epilog=_SEARCH_EXAMPLES,
    help="Find the passages that answer a question or hold some words, best first. Several words are one query; - reads"
    " the query from standard input.",
)
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@options.bases
@click.option("-k", "--top-k", type=Whole(), help="How many hits at most; 10, unless set otherwise.")
@click.option(
    "--mode",
    type=OneOf("hybrid", "lexical", "semantic"),
    default="hybrid",
    help="By words and by meaning, by words only, or by meaning only.",
)
@click.option("--min-relevance", type=Share(), help="Only hits that are at least so relevant, from 0 to 1.")
@click.option("--rerank/--no-rerank", default=None, help="Let a reranker score the hits anew, or not.")
@click.option("--rerank-top-k", type=Whole(), help="How many of the hits are kept then; 5, unless set otherwise.")
@options.source
@options.max_chars
@click.option("--max-chars-per-hit", type=Whole(), help="At most this many characters of each hit.")
@click.option(
    "--max-tokens", type=Whole(), help="The best passages for so many tokens of a chat model, neighbours as one."
)
@click.option("--expand/--no-expand", default=True, help="Add the words of the bases' glossaries, or do not.")
@click.option("--explain", is_flag=True, help="Say what was looked for, and why each hit was found.")
@options.formats("text", "json", "md", "files")
@click.pass_context
def search(ctx: click.Context, /, words: tuple[str, ...], names: tuple[str, ...], form: str, **limits: Any) -> int:
    from zhiku.answer import BUDGET_TOP_K, Query

    session = session_of(ctx)
    library = session.library()
    explain = limits.pop("explain")
    limits["top_k"] = limits["top_k"] or (BUDGET_TOP_K if limits["max_tokens"] else library.settings.search.top_k)
    query = Query(text=_text_of(words), **limits)
    answer = library.search(query, names)
    _print_answer(
        session, answer, form, whole=any(limits[name] for name in ("max_chars_per_hit", "max_tokens")), explain=explain
    )
    _print_notes(session, answer, query, explain)
    return 0 if answer.hits else NOTHING_MATCHED


def _print_answer(session: Session, answer: Answer, form: str, *, whole: bool, explain: bool) -> None:
    from zhiku.cli import hits

    if form == "json":
        render.out_json(answer.to_dict())
    elif form == "files":
        render.out_paths(hits.files(answer))
    elif form == "md":
        render.out_lines(hits.as_markdown(answer, session.screen))
    else:
        render.out_lines(hits.as_text(answer, session.screen, whole=whole, explain=explain))


def _print_notes(session: Session, answer: Answer, query: Query, explain: bool) -> None:
    from zhiku.cli import health

    if explain:
        for line in health.looked_for(answer, session.errors):
            render.note(line)
    for line in health.notes(answer, session.errors, query):
        render.note(line)


def _text_of(words: Sequence[str]) -> str:
    text = sys.stdin.read() if list(words) == ["-"] else " ".join(words)
    # Bytes that are no UTF-8 stand in for characters that nobody knows.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@click.command(
    cls=Command,
    epilog=_GREP_EXAMPLES,
    help="Find every line that holds a keyword, character for character, in any case unless told otherwise.",
)
@click.argument("keyword")
@options.bases
@click.option("-s", "--case-sensitive", is_flag=True, help="Tell capital letters from small ones.")
@options.source
@click.option("--max-lines", type=Whole(), default=200, help="How many lines at most; 200, unless named.")
@options.max_chars
@click.option(
    "--max-chars-per-line", type=Whole(), default=300, help="Cut longer lines around the keyword; 300, unless named."
)
@options.formats("text", "json")
@click.pass_context
def grep(ctx: click.Context, /, keyword: str, names: tuple[str, ...], form: str, **limits: Any) -> int:
    from zhiku.cli.excerpts import matches
    from zhiku.retrieve.lines import GrepQuery

    session = session_of(ctx)
    answer = session.library().grep(GrepQuery(keyword=_text_of([keyword]), **limits), names)
    if form == "json":
        render.out_json(answer.to_dict())
    else:
        render.out_lines(matches(answer, session.screen))
    bases = ", ".join(answer.bases)
    if answer.truncated:
        render.note(session.errors.tr("More lines match; raise --max-lines or --max-chars to see them."))
    elif not answer.items:
        render.note(session.errors.tr("No line holds {keyword!r} in {bases}.", keyword=keyword, bases=bases))
    return 0 if answer.items else NOTHING_MATCHED


@click.command(
    cls=Command,
    epilog=_READ_EXAMPLES,
    help="Show a document, or some lines or a page of it, as it was indexed. Name it by its path, or by the locator"
    " that a search gives with each hit.",
)
@click.argument("place", metavar="LOCATOR|PATH")
@click.option("-b", "--base", "name", metavar="BASE", help="The base that holds the document.")
@click.option("--lines", type=LineRange(), help="Only these lines: 10-40, 10, 10- or -40.")
@click.option("--page", type=Whole(), help="Only this page.")
@click.option("--context", type=Whole(0), default=0, help="This many lines more before and after.")
@options.formats("text", "json")
@click.pass_context
def read(ctx: click.Context, /, place: str, name: str | None, form: str, **part: Any) -> None:
    from zhiku.cli.excerpts import excerpt_lines, header

    if part["lines"] and part["page"]:
        raise UsageError("--lines and --page name two places.", hint="leave one of them out")
    session = session_of(ctx)
    excerpt = session.library().read(place, name, **part)
    if form == "json":
        render.out_json(excerpt.to_dict())
        return
    render.note(header(excerpt, session.errors))
    render.out_lines(excerpt_lines(excerpt, session.screen))
