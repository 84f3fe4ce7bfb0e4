"""What the pipelines need of an adapter, as Protocols; an adapter implements one by shape.

Long because what is promised stands here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from zhiku.model import (
    Candidate,
    Chunk,
    ChunkTokens,
    CosineScale,
    Document,
    Fault,
    FileLook,
    HiddenBy,
    KnownFile,
    LedgerEntry,
    LexicalQuery,
    Occurrences,
    ParsedDocument,
    PendingText,
    Source,
    StoredChunk,
    TextPiece,
    Totals,
    VectorRanking,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Parser(Protocol):
    """Turn a file's bytes into text with places. Same bytes, same result; no network; no other file is read."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document; raise a `SourceError` that says why it cannot be read."""
        ...


class Chunker(Protocol):
    """Cut a document into chunks: ordered spans inside the text that cover every non-blank character."""

    @property
    def version(self) -> str:
        """Return a name that changes whenever the spans of some document would."""
        ...

    def chunk(self, document: ParsedDocument) -> Iterable[Chunk]:
        """Yield the document's chunks in order."""
        ...


class ReadSession(Protocol):
    """One consistent view of a base. Lexical search takes tokens, never text."""

    def manifest(self) -> Mapping[str, str]:
        """Return what built the index."""
        ...

    def totals(self) -> Totals:
        """Return what the base holds."""
        ...

    def documents(self) -> Iterator[Document]:
        """Yield every document, by root and path."""
        ...

    def paged_documents(self) -> Iterator[Document]:
        """Yield the searched documents that have pages."""
        ...

    def document(self, doc_id: int) -> Document | None:
        """Return one document, or None."""
        ...

    def documents_with(self, sha256: str) -> list[Document]:
        """Return the documents of exactly this content."""
        ...

    def roots(self) -> list[str]:
        """Return all roots that were ever indexed."""
        ...

    def settled_files(self, root: str) -> Iterator[FileLook]:
        """Yield what the searched files of a root looked like, in the order of their ids."""
        ...

    def textless_files(self, root: str) -> list[str]:
        """Return the paths of the searched files of a root that hold no text."""
        ...

    def known_files(self, root: str) -> dict[str, KnownFile]:
        """Return what is remembered of a root's files, by path."""
        ...

    def files_with(self, sha256: str) -> list[KnownFile]:
        """Return what is remembered of the files of exactly this content."""
        ...

    def select(self, source: str) -> list[int]:
        """Return, in order, the ids of the documents whose place matches a part of a path, or a glob.

        A place is the root's own name and the path within it; the whole path where `source` is absolute.
        """
        ...

    def ledger(self, root: str | None = None) -> list[LedgerEntry]:
        """Return what is not in the index, or has no text, and why; of all roots, or of one."""
        ...

    def search_lexical(
        self,
        query: LexicalQuery,
        *,
        limit: int,
        doc_ids: Sequence[int] | None = None,
        per_document: bool = False,
    ) -> list[Candidate]:
        """Return the best chunks by BM25, ties by id; `per_document`, only the best of each document."""
        ...

    def occurrences(self, query: LexicalQuery, chunk_ids: Sequence[int]) -> dict[int, Occurrences]:
        """Return how often what the query looks for stands in each of these chunks; those without any are left out."""
        ...

    def term_rows(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many chunks each term stands (about, for frequent ones)."""
        ...

    def search_vectors(
        self, vector: NDArray[np.float32], *, limit: int, doc_ids: Sequence[int] | None = None
    ) -> VectorRanking:
        """Return the nearest chunks by cosine, ties by id: `limit` of each script, for a model puts passages in the
        question's own script first, right or wrong. The statistics are over the whole base in any case.
        """
        ...

    def cosines(self, vector: NDArray[np.float32], chunk_ids: Sequence[int]) -> dict[int, float]:
        """Return the exact cosine of each of these chunks that has a vector."""
        ...

    def scripts(self, doc_ids: Sequence[int]) -> dict[int, str]:
        """Return the script of each of these documents."""
        ...

    def terms_in(self, script: str, terms: Sequence[str]) -> frozenset[str]:
        """Return those of the terms that stand in any document of a script."""
        ...

    def chunks(self, chunk_ids: Sequence[int]) -> list[StoredChunk]:
        """Return the chunks of these ids, in the order asked; unknown ids are left out."""
        ...

    def chunks_of(self, doc_id: int) -> list[StoredChunk]:
        """Return all chunks of a document, in order."""
        ...

    def text(self, doc_id: int, char_start: int = 0, char_end: int | None = None) -> list[TextPiece]:
        """Return the pieces of a document's text that touch the span."""
        ...

    def texts(self, doc_ids: Sequence[int] | None = None) -> Iterator[TextPiece]:
        """Yield the text of all active documents, or of these, piece by piece in order."""
        ...

    def pages(self, doc_id: int) -> list[tuple[int, int, int]]:
        """Return (page_no, char_start, char_end) for each page of a document."""
        ...

    def pending_texts(self, *, after: int, limit: int) -> list[PendingText]:
        """Return chunks of active documents that have no vector, by id, from behind the id `after` on."""
        ...

    def embedded(self, digests: Iterable[bytes]) -> list[bytes]:
        """Return those of these digests whose text has a vector."""
        ...

    def sample(self, limit: int) -> list[StoredChunk]:
        """Return `limit` chunks of each script, or all, spread evenly over the active documents; always the same."""
        ...

    def check(self, dims: int | None = None) -> list[Fault]:
        """Return the damage that can be seen without searching; vectors should be of length `dims`, where it is known.

        Reads most of the base. Where the tables are damaged, nothing is said of the rest.
        """
        ...


class WriteSession(Protocol):
    """The one writer of a base. What is put is durable at the next checkpoint, a document whole or not at all.

    The record holds every document; what is searched (full text and packs of vectors) holds the active ones alone.
    """

    def view(self) -> ReadSession:
        """Return a session that reads what was put so far; good until this one ends."""
        ...

    def put(
        self,
        source: Source,
        parsed: ParsedDocument,
        chunks: Sequence[Chunk],
        tokens: Sequence[ChunkTokens],
        *,
        format_name: str,
        doc_id: int | None = None,
    ) -> int:
        """Store an active document and return its id: in place of `doc_id`, wherever that was, or of the one with its
        path.
        """
        ...

    def touch(self, doc_id: int, source: Source) -> None:
        """Record a document's new place, time or size; its content is as it was."""
        ...

    def hide(self, doc_id: int, by: HiddenBy) -> None:
        """Take a document out of what is searched; its record stays, its vectors too."""
        ...

    def show(self, doc_id: int, by: HiddenBy) -> bool:
        """Take back what hid a document, and return whether it is active now: then its tokens must be put."""
        ...

    def untokened(self) -> list[int]:
        """Return the active documents of which a chunk has no words to be found by."""
        ...

    def put_tokens(self, doc_id: int, tokens: Sequence[ChunkTokens]) -> None:
        """Make an active document searchable by these tokens of its chunks, in place of those it had."""
        ...

    def add_notes(self, root: str, entries: Iterable[LedgerEntry]) -> None:
        """Record why files of a root are not indexed; unchanged entries are not written."""
        ...

    def put_notes(self, root: str, entries: Iterable[LedgerEntry], *, within: str = "") -> None:
        """Do the same, and drop all other entries of the root at or below `within`."""
        ...

    def set_manifest(self, values: Mapping[str, str]) -> None:
        """Record what builds the index."""
        ...

    def manifest(self) -> Mapping[str, str]:
        """Return what built the index so far."""
        ...

    def pending_vectors(self) -> int:
        """Return how many chunks have no vector."""
        ...

    def put_vectors(self, digests: Sequence[bytes], scripts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store vectors by the digest of the text they stand for."""
        ...

    def link_vectors(self, digests: Mapping[int, bytes]) -> frozenset[int]:
        """Give chunks the vectors of these digests; return the ids of those whose digest has one."""
        ...

    def note_unembedded(self, chunk_ids: Collection[int], *, whole: bool) -> None:
        """Note in the ledger of which files a chunk has no vector although it was tried.

        `whole` says that all chunks were tried: then all other notes of this kind are dropped.
        """
        ...

    def settle_vectors(self) -> None:
        """Remove the vectors that no chunk has; done once all chunks have theirs, since a changed file keeps most."""
        ...

    def forget_vectors(self) -> None:
        """Drop all vectors: another embedder will make new ones."""
        ...

    def is_concurrent(self) -> bool:
        """Return whether readers are never kept waiting meanwhile; not every file system can do that."""
        ...

    def checkpoint(self) -> None:
        """Make everything put so far durable and visible to readers."""
        ...

    def settle(self) -> None:
        """Tidy up at the end of a run: merge what many small writes left, refresh statistics."""
        ...


class Store(Protocol):
    """A base's record and index."""

    def exists(self) -> bool:
        """Return whether anything was ever written."""
        ...

    def reading(self) -> AbstractContextManager[ReadSession]:
        """Open a read session; raises `IndexStateError` where the index cannot answer."""
        ...

    def writing(self, before_migration: Callable[[], object] | None = None) -> AbstractContextManager[WriteSession]:
        """Open the write session; on an error everything since the last checkpoint is undone.

        An index of an older schema is brought up to date; `before_migration` is called first.
        """
        ...

    def successor(self, origin: Path | None = None, *, record_only: bool = False) -> AbstractContextManager[Store]:
        """Build another index beside this one: begun empty, as a copy of the index at `origin`, or of its record.

        With its record alone, documents have no words to be found by until their tokens are put. The new index takes
        this one's place in one step when the block ends; on an error this one stays.
        """
        ...

    @property
    def path(self) -> Path:
        """Return the file that is the index."""
        ...

    def copy_to(self, path: Path) -> None:
        """Copy the index, as it is at one instant, to a file that does not exist yet."""
        ...

    def close(self) -> None:
        """Close what is open; the store can still be used afterwards."""
        ...


class Embedder(Protocol):
    """Turn texts into vectors whose products are cosines. Same text, same vector, whatever it is embedded with."""

    @property
    def fingerprint(self) -> str:
        """Return a string that changes whenever vectors would; nothing is loaded for it."""
        ...

    @property
    def dims(self) -> int:
        """Return the length of a vector; 0 as long as a server has not told it."""
        ...

    @property
    def max_tokens(self) -> int:
        """Return how many tokens of a text are seen, those that the model adds included."""
        ...

    @property
    def batch_size(self) -> int:
        """Return how many texts are best embedded at a time; Ctrl-C and progress wait for that many."""
        ...

    @property
    def is_remote(self) -> bool:
        """Return whether texts are sent to a server: a vector costs time and money, and waiting may be given up."""
        ...

    @property
    def scale(self) -> CosineScale:
        """Return what is known of this model's cosines."""
        ...

    def check(self) -> None:
        """Raise `MissingExtra` or `ModelError` where there is no model; from then on `dims` is known."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of the first passages, of all but for a server: (n, dims) float32, rows of length 1.

        What is left over is for the next call: a server's vectors are to be stored before more are asked for. Any
        string has one, the empty one too; but a server may fail over a text, whose row is NaN then. Raises
        `MissingExtra` or `ModelError` where there is no model.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of questions, likewise."""
        ...

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a passage takes (about, for a server); those above `max_tokens` are not seen."""
        ...


class TokenEmbedder(Protocol):
    """What late interaction needs of an embedder: what each token of a text stands for, where it stands.

    States are rows of length 1, without those of prefixes and marks unless there are no others. Any string has some.
    """

    def question_tokens(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the states of a question's tokens, (n, dims) float32, and how much each weighs, (n,) float32: above 0,
        and more for a rarer one. Raises `MissingExtra` or `ModelError` where there is no model.
        """
        ...

    def document_tokens(self, text: str) -> NDArray[np.float32]:
        """Return the states of a passage's tokens, (n, dims) float32, likewise."""
        ...


class Reranker(Protocol):
    """Scores how well texts answer a question. Same question and text, same score, in any company and order."""

    @property
    def name(self) -> str:
        """Return what scores, as a reader is told: an address, where texts are sent to one."""
        ...

    def score(self, question: str, texts: Sequence[str], *, budget_s: float = float("inf")) -> list[float]:
        """Return for each text how well it answers, 0 to 1: 0 also where the model has no number for it.

        Raises `MissingExtra` or `ModelError` where there is no model, or where this is not done within `budget_s`
        seconds; what is left undone then costs no more time.
        """
        ...
