"""The best set of passages for a number of tokens: neighbours as one, nothing twice, no document alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from zhiku.answer import Budget
from zhiku.model import Chunk, StoredChunk
from zhiku.ports import ReadSession
from zhiku.retrieve.present import Chosen, Ranked
from zhiku.retrieve.relevance import NOTHING_FOUND
from zhiku.text.analyze import Analyzer
from zhiku.text.measure import estimate_chat_tokens

MAX_NEAREST = 3
"""How many passages are taken where none is likely to answer."""
MAX_SHARE_OF_DOCUMENT = 0.5
"""At most this share of the tokens goes to one document while others have something too."""
MAX_GAP_CHARS = 8
"""Chunks of a document no further apart are neighbours; there is nothing but blanks between two chunks."""
GAP_TOKENS = 2
"""What is between two neighbours, at most."""
SAME_SHARE = 0.9
"""A passage of whose runs of words another one holds this share says nothing new."""
RUN_TOKENS = 3
LEAST_TOKENS = 60
"""Less than that of a passage is not worth its place."""

_Document = tuple[str, int]


@dataclass(frozen=True)
class Weighed:
    """A chunk with how likely it is to answer (None where that is not known), and its place in the ranking."""

    ranked: Ranked
    stored: StoredChunk
    relevance: float | None
    place: int

    @property
    def document(self) -> _Document:
        return self.ranked.base, self.ranked.doc_id

    @property
    def is_likely(self) -> bool:
        return self.relevance is None or self.relevance >= NOTHING_FOUND


def place_tokens(stored: StoredChunk) -> int:
    """Return about how many tokens it takes to say where a passage stands."""
    return estimate_chat_tokens(" ".join((stored.document.source.path, *stored.chunk.section))) + 8


@dataclass
class _Group:
    """Neighbouring chunks of one document that are shown as one passage."""

    best: Weighed
    chunks: list[StoredChunk]
    max_tokens: int | None = None
    """Of its text, where it is cut for length."""

    @property
    def start(self) -> int:
        return min(each.chunk.char_start for each in self.chunks)

    @property
    def end(self) -> int:
        return max(each.chunk.char_end for each in self.chunks)

    def touches(self, chunk: Chunk) -> bool:
        """Answer whether a chunk of the document is beside these, on one sheet: lines begin anew on each."""
        is_near = chunk.char_start <= self.end + MAX_GAP_CHARS and self.start <= chunk.char_end + MAX_GAP_CHARS
        other = self.chunks[0].chunk
        ascends = (chunk.char_start >= other.char_start) == (chunk.line_start >= other.line_start)
        return is_near and (ascends or chunk.line_start == other.line_start)


@dataclass
class Packer:
    """Fills `max_tokens` with at most `top_k` passages. With `one_each` every document comes once before any twice."""

    max_tokens: int
    top_k: int
    analyzer: Analyzer
    one_each: bool = False
    _groups: list[_Group] = field(default_factory=list)
    _spent: Counter[_Document] = field(default_factory=Counter)
    _runs: list[frozenset[tuple[str, ...]]] = field(default_factory=list)

    def pack(self, candidates: Sequence[Weighed]) -> list[Weighed]:
        """Choose from candidates, best first; return those that are left out and would say something new."""
        likely = [each for each in candidates if each.is_likely] or candidates[:MAX_NEAREST]
        documents = {each.document for each in likely}
        later: list[Weighed] = []
        left_out: list[Weighed] = []
        for each in likely:
            if self._is_known(each):
                continue
            if len(documents) > 1 and self._is_enough(each):
                later.append(each)
            elif not self._take(each):
                left_out.append(each)
        left_out += [each for each in later if not self._take(each)]
        left_out.sort(key=attrgetter("place"))
        if left_out and self._cut_to_fit(left_out[0]):
            del left_out[0]
        self._groups.sort(key=attrgetter("best.place"))
        return left_out

    def chosen(self, sessions: Mapping[str, ReadSession]) -> list[Chosen]:
        """Return the passages, in the order of the best chunk of each."""
        return [
            Chosen(
                ranked=group.best.ranked,
                stored=_joined(sessions[group.best.ranked.base], group.chunks),
                max_tokens=group.max_tokens,
            )
            for group in self._groups
        ]

    def budget(self, left_out: Sequence[Weighed]) -> Budget:
        """Return what the passages take, and how much more there is."""
        return Budget(
            max_tokens=self.max_tokens,
            tokens=self._spent.total(),
            more_passages=len(left_out),
            more_documents=len({each.document for each in left_out}),
            more_tokens=sum(estimate_chat_tokens(each.stored.chunk.text) for each in left_out),
        )

    def _is_known(self, each: Weighed) -> bool:
        """Answer whether a passage says what one that came before does; keep what it says if not."""
        tokens = self.analyzer.tokens(each.stored.chunk.text)
        runs = frozenset(zip(*(tokens[i:] for i in range(RUN_TOKENS)), strict=False)) or frozenset([tuple(tokens)])
        if any(len(runs & known) >= SAME_SHARE * len(runs) for known in self._runs):
            return True
        self._runs.append(runs)
        return False

    def _is_enough(self, each: Weighed) -> bool:
        spent = self._spent[each.document]
        if self.one_each:
            return spent > 0
        return spent > 0 and spent + self._cost(each) > MAX_SHARE_OF_DOCUMENT * self.max_tokens

    def _take(self, each: Weighed) -> bool:
        """Add a passage where there is room for it."""
        cost = self._cost(each)
        beside = self._beside(each)
        if self._spent.total() + cost > self.max_tokens or (not beside and len(self._groups) == self.top_k):
            return False
        self._spent[each.document] += cost
        if not beside:
            self._groups.append(_Group(best=each, chunks=[each.stored]))
            return True
        first, *others = beside
        first.chunks.append(each.stored)
        first.best = min((each, *(group.best for group in beside)), key=attrgetter("place"))
        for other in others:  # it stands between two
            first.chunks += other.chunks
            self._groups.remove(other)
        return True

    def _cut_to_fit(self, each: Weighed) -> bool:
        """Add a part of the best passage for which there is no room, if there is some."""
        place = place_tokens(each.stored)
        room = self.max_tokens - self._spent.total() - place
        if not self._groups and room < LEAST_TOKENS:
            room, place = self.max_tokens, 0
        elif room < LEAST_TOKENS or len(self._groups) == self.top_k or self._beside(each):
            return False
        self._spent[each.document] += room + place
        self._groups.append(_Group(best=each, chunks=[each.stored], max_tokens=room))
        return True

    def _beside(self, each: Weighed) -> list[_Group]:
        return [
            group for group in self._groups if group.best.document == each.document and group.touches(each.stored.chunk)
        ]

    def _cost(self, each: Weighed) -> int:
        """Return what a passage takes: its place and its text, without what its neighbours hold already."""
        chunk = each.stored.chunk
        beside = self._beside(each)
        if not beside:
            return estimate_chat_tokens(chunk.text) + place_tokens(each.stored)
        start, end = chunk.char_start, chunk.char_end
        for group in beside:
            if group.start <= start:
                start = max(start, min(group.end, end))
            else:
                end = min(end, group.start)
        fresh = chunk.text[start - chunk.char_start : max(start, end) - chunk.char_start]
        return estimate_chat_tokens(fresh) + GAP_TOKENS


def _joined(session: ReadSession, chunks: Sequence[StoredChunk]) -> StoredChunk:
    """Return neighbouring chunks as one."""
    if len(chunks) == 1:
        return chunks[0]
    ordered = sorted(chunks, key=lambda each: each.chunk.char_start)
    first, last = ordered[0].chunk, max((each.chunk for each in ordered), key=lambda chunk: chunk.char_end)
    pieces = session.text(ordered[0].document.doc_id, first.char_start, last.char_end)
    text = "".join(piece.body for piece in pieces)
    start = first.char_start - pieces[0].char_start
    chunk = replace(
        first,
        text=text[start : start + last.char_end - first.char_start],
        char_end=last.char_end,
        line_end=last.line_end,
        page_end=last.page_end,
        section=_common([each.chunk.section for each in ordered]),
    )
    return replace(ordered[0], chunk=chunk)


def _common(chains: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the headings that are above all of them."""
    shared = 0
    while all(len(chain) > shared and chain[shared] == chains[0][shared] for chain in chains):
        shared += 1
    return chains[0][:shared]
