"""The nouns of the vocabulary as frozen values (see docs/ARCHITECTURE.md): one list, however long.

Positions: `char_*` are 0-based and half-open, in code points of a document's text; `line_*` and `page*` are
1-based and inclusive. The text of a line-based format keeps its line numbers: line n of the text is line n of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from zhiku.errors import IndexStateError
from zhiku.frozen import frozen

BlockKind = Literal["heading", "paragraph", "list", "table", "fence"]
FileState = Literal["unchanged", "moved", "changed", "missing"]


@frozen
class Source:
    """A file as it was found and read.

    `path` is relative to `root` with `/` between its parts; bytes of a name that are not UTF-8 are kept as
    surrogate escapes, so that `Path(root, path)` always opens the file.
    """

    root: str
    path: str
    size_bytes: int
    mtime_ns: int
    ctime_ns: int = 0
    """When the file's status last changed, which no program can set back; 0 where it is not known. Negative if that was
    so shortly before the file was read that its times may not show a later change: then the next run reads it again.
    """
    sha256: str

    @property
    def look(self) -> FileLook:
        """Return what the file looked like when it was read."""
        return self.path, self.size_bytes, self.mtime_ns, self.ctime_ns


FileLook = tuple[str, int, int, int]
"""A file's path, size, time of change and time of the last change of its status, as `Source` has them."""


class KnownFile(NamedTuple):
    """What a base remembers of a file, by which a run tells what became of it.

    A named tuple, because a run makes one of each file before it has looked at any.
    """

    root: str
    path: str
    doc_id: int
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    sha256: str
    format: str
    chunk_count: int
    pruned: int
    """1 where the file was gone and the user said `--prune`."""
    forgotten: int
    """1 where the user said `zhiku forget`."""

    @property
    def look(self) -> FileLook:
        """Return what the file looked like when it was read."""
        return self.path, self.size_bytes, self.mtime_ns, self.ctime_ns

    @property
    def is_searched(self) -> bool:
        """Return whether its document is active."""
        return not (self.pruned or self.forgotten)


HiddenBy = Literal["pruned", "forgotten"]
"""Why a document is deprecated: it stays in the record and is not searched. Both may hold at once."""


@frozen
class Block:
    """The smallest unit of a parsed document: one heading, paragraph, list, table or fence."""

    kind: BlockKind
    char_start: int
    char_end: int
    level: int = 0
    """Heading level, 1 to 6; 0 for every other kind."""
    title: str = ""
    """A heading's visible text, without markup."""
    section: tuple[str, ...] = ()
    """What it belongs to where that is told by names and not by headings: a method of source code, say."""


@frozen
class Page:
    """One page of a paged document, as a span of its text (empty where the page has no text)."""

    page_no: int
    char_start: int
    char_end: int


@frozen
class Link:
    """A link as written in a document. `embed` marks `![[…]]`; an attachment is an embed that is no note."""

    target: str
    """Target without heading or alias; empty for a link into the same document."""
    anchor: str = ""
    alias: str = ""
    embed: bool = False
    line: int


@frozen
class ParsedDocument:
    """A document before storage.

    `blocks` are ordered, do not overlap and hold every non-blank character of `text`, save what `metadata`
    already carries. `pages` is empty for formats without pages. `metadata` is JSON-able.
    """

    text: str
    blocks: tuple[Block, ...]
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    pages: tuple[Page, ...] = ()
    line_numbers: tuple[int, ...] = ()
    """The file's line for each line of `text`; empty where line n of the text is line n of the file.

    They ascend, but begin anew at the heading of each sheet of a spreadsheet, whose lines are its rows."""
    encoding: str = ""
    warnings: tuple[str, ...] = ()


@frozen
class Chunk:
    """The unit that is indexed and embedded: a span of its document's text."""

    text: str
    char_start: int
    char_end: int
    line_start: int
    line_end: int
    section: tuple[str, ...] = ()
    page: int | None = None
    page_end: int | None = None


@frozen
class ChunkTokens:
    """The tokens of one chunk, field by field, as the analyzer made them."""

    body: list[str]
    title: list[str]
    heading: list[str]
    name: list[str]


@frozen
class Document:
    """What a base knows of one source. `doc_id` survives edits and moves."""

    doc_id: int
    source: Source
    title: str
    format: str
    encoding: str
    chars: int
    chunk_count: int
    page_count: int
    indexed_at: str
    state: Literal["active", "deprecated"] = "active"
    hidden_by: tuple[HiddenBy, ...] = ()
    """Why it is deprecated; empty for an active document."""
    script: str = "latin"
    """What it is written in: `latin` or `han` (see `zhiku.text.script`)."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    warnings: tuple[str, ...] = ()


@frozen
class StoredChunk:
    """A chunk as a base holds it."""

    chunk_id: int
    document: Document
    chunk: Chunk


@frozen
class TextPiece:
    """A stretch of a document's text.

    `line_start` counts the text's lines; `line_numbers` are the file's, where they differ.
    """

    doc_id: int
    char_start: int
    line_start: int
    body: str
    line_numbers: tuple[int, ...] = ()

    def file_line(self, offset: int) -> int:
        """Return the file's line for a character of `body`."""
        lines_before = self.body.count("\n", 0, offset)
        return self.line_numbers[lines_before] if self.line_numbers else self.line_start + lines_before


@frozen
class LedgerEntry:
    """Why a file is not in the index, or holds no text there, or a part of it has no vector."""

    root: str
    path: str
    outcome: Literal["failed", "skipped", "textless", "unembedded"]
    code: str
    message: str
    tries: int = 1
    """How many runs tried to read it, and ended so."""
    seen_at: str = ""
    look: FileLook | None = None
    """What the file looked like when it was read; None where it was not."""
    reader: str = ""
    """What read it."""


Unit = tuple[str, ...]
"""What counts as one thing to look for: a token, or tokens in a row; `ANY_ENDING` behind a token stands for all that
begin with it."""
ANY_ENDING = "*"


@frozen
class LexicalQuery:
    """What to look for by words: terms, terms that begin with a prefix, runs of terms."""

    terms: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    phrases: tuple[Unit, ...] = ()
    required: tuple[Unit, ...] = ()
    """Where there are any, a chunk must hold one of these, and counts for it as for the others."""
    weights: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    """Of a match in the body, title, headings and file name."""
    max_postings: int = 10_000
    """What may be read for it: where any term is enough, the most frequent ones are left out beyond that."""
    match: Literal["any", "all"] = "any"
    """Whether one of them is enough, or a chunk must hold all."""

    def __bool__(self) -> bool:
        return bool(self.units)

    @property
    def units(self) -> tuple[Unit, ...]:
        """Return all that counts."""
        words = ((term,) for term in self.terms)
        return (*words, *((prefix, ANY_ENDING) for prefix in self.prefixes), *self.phrases, *self.required)


@frozen
class Occurrences:
    """How often what was looked for stands in a chunk, weighted by field; what it does not hold is left out."""

    tokens: int
    """The chunk's length as it is ranked: its tokens in all fields, and one that tells its script."""
    counts: Mapping[Unit, float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk as one leg ranked it; `score` grows with relevance."""

    chunk_id: int
    doc_id: int
    score: float


@frozen
class ScriptStatistics:
    """The cosines of a question with all vectors of a base whose documents are of one script."""

    count: int
    mean: float
    std: float
    """Of the population; 0 for a single vector."""
    best: float


@frozen
class CosineScale:
    """What is known of a model's cosines before a base is seen."""

    mean: float
    """Of a question with a passage that does not answer it."""
    std: float
    script_gap: float
    """By how much they are higher where passage and question are of one script."""
    good: float
    """How far a good answer stands above the mean of its base, in standard deviations."""


@frozen
class VectorRanking:
    """The chunks of each script nearest to a question, by cosine, and what the cosines of all the others are like."""

    candidates: tuple[Candidate, ...]
    statistics: Mapping[str, ScriptStatistics]
    """By script; a script without vectors is left out."""


@frozen
class PendingText:
    """A chunk that has no vector yet, with what belongs before its text when it is embedded."""

    chunk_id: int
    doc_id: int
    script: str
    title: str
    section: tuple[str, ...]
    text: str


@frozen
class Fault:
    """Damage in a base's record or index: in the tables that all else rests on, or in what one leg searches."""

    part: Literal["tables", "lexical", "vector"]
    error: IndexStateError


@frozen
class Totals:
    """What a base holds."""

    documents: int
    deprecated: int
    """Documents in the record that are not searched; all that follows is of the others."""
    chunks: int
    tokens: int
    """Over all chunks and fields."""
    chars: int
    failed: int
    skipped: int
    textless: int
    pending_vectors: int = 0
    """Chunks that have no vector yet."""
