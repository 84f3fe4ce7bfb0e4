"""Whether a base finds what it holds: each leg is asked for sentences that were taken from the base itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from zhiku.answer import Query
from zhiku.config import load_base_settings
from zhiku.errors import ConfigError, IndexStateError, MissingExtra, ModelError, ZhikuError
from zhiku.model import Totals
from zhiku.ports import Embedder, ReadSession
from zhiku.retrieve.grep import grep
from zhiku.retrieve.search import rank
from zhiku.service.base import Base
from zhiku.service.roots import find_losses
from zhiku.text.analyze import Analyzer

LegName = Literal["lexical", "vector", "exact"]
State = Literal["ok", "blind", "damaged", "off", "unknown"]
"""Of a leg: it finds what it should; it does not; its part of the index is damaged; it is not wanted; nobody asked."""

PROBES = 12
"""Sentences of each script that a leg is asked for."""

EXACT_PROBES = 4
"""Of these, those that are looked for character for character, which reads half of the base's text for each."""

CHUNKS_PER_PROBE = 3
"""Neighbours in the sample, of which the one with the longest sentence is asked for."""

REACH = 10
"""How far down a ranking a sentence counts as found; on a small base, within a quarter of its chunks."""

MAX_MISSED = 1 / 3
"""A leg that misses more than this share of the sentences is blind.

Measured 2026-11-30 on the sample documents, xquad-zh, xquad-en, xquad-r-mixed, cookbook-code-chunk and anchor-tidb-zh:
of 12 or 24 sentences of each, words missed at most 1 in 12; of 60 to 120 of each of the first five, meaning missed at
most 1 in 30, and the fallback embedder (three of them) 1 in 8, both in code and none in prose.
"""

MAX_SENTENCE_CHARS = 120
MIN_TERMS = 4
"""Words, or pairs of Han characters, that a sentence has at least: shorter ones stand in too many places."""

_SENTENCE = re.compile(r"[^\n。！？!?；;]+")
# What is damaged is told by other checks; a leg may also miss sentences because the base is full of their likes.
_ALIKE = "where many texts are alike, this is no fault; otherwise mend it: zhiku doctor --repair --base {base}"


@dataclass(frozen=True, kw_only=True)
class LegHealth:
    """How one way of finding fared with the sentences it was asked for."""

    state: State = "unknown"
    found: int = 0
    asked: int = 0


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is wrong with a part of a base, a leg or another; the error's hint says what mends it."""

    part: LegName | Literal["base", "roots", "glossary"]
    error: ZhikuError


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What was found out about a base; without findings, it is well."""

    name: str
    folder: str
    totals: Totals | None
    """None where the base holds nothing yet, or cannot be read."""
    legs: dict[LegName, LegHealth]
    findings: tuple[Finding, ...]
    terms: int = 0
    """How many terms its glossary has."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        totals = self.totals
        return {
            "name": self.name,
            "folder": self.folder,
            "documents": totals.documents if totals else 0,
            "chunks": totals.chunks if totals else 0,
            "pending_vectors": totals.pending_vectors if totals else 0,
            "failed_files": totals.failed if totals else 0,
            "terms": self.terms,
            "legs": {name: asdict(leg) for name, leg in self.legs.items()},
            "findings": [
                {"part": each.part, "code": each.error.code, "message": each.error.message, "hint": each.error.hint}
                for each in self.findings
            ],
        }


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A sentence, and the chunk that it was taken from."""

    sentence: str
    chunk_id: int


def diagnose(base: Base) -> Diagnosis:
    """Return how well a base finds what it holds. What keeps it from answering is a finding, no error."""
    legs: dict[LegName, LegHealth] = {name: LegHealth() for name in ("lexical", "vector", "exact")}
    findings: list[Finding] = []
    totals = None
    roots: tuple[str, ...] = ()
    terms = 0
    try:
        roots = load_base_settings(base.folder).roots
        terms = len(glossary := base.glossary())
        findings += [Finding(part="glossary", error=error) for error in glossary.shortcomings(base.name)]
        if base.exists():
            with base.reading() as session:
                totals = session.totals()
                findings += _missing_roots(base.name, roots, session)
                for name, health, errors in _Examination(base, session, totals).legs():
                    legs[name] = health
                    findings += [Finding(part=name, error=error) for error in errors]
    except (ConfigError, IndexStateError) as error:
        findings.append(Finding(part="base", error=error))
    if totals is None:
        findings[:0] = _missing_roots(base.name, roots, None)
    return Diagnosis(
        name=base.name,
        folder=str(base.folder),
        totals=totals,
        legs=legs,
        findings=tuple(findings),
        terms=terms,
    )


def _missing_roots(name: str, roots: Sequence[str], session: ReadSession | None) -> Iterator[Finding]:
    for root in find_losses(roots, session, look=False).missing_roots:
        error = IndexStateError(
            "the root {root} is gone; what is indexed of it stays.",
            root=root,
            base=name,
            hint="connect its drive; if it was moved, index it where it is now: zhiku index PATH --base {base}",
        )
        yield Finding(part="roots", error=error)


class _Examination:
    """One look at a base that holds something."""

    def __init__(self, base: Base, session: ReadSession, totals: Totals) -> None:
        self._name = base.name
        self._session = session
        self._totals = totals
        self._meaning = base.meaning(session)
        self._analyzer = Analyzer()
        self._reach = max(1, min(REACH, totals.chunks // 4))

    def legs(self) -> Iterator[tuple[LegName, LegHealth, list[ZhikuError]]]:
        """Yield each leg with how it fares and what is wrong. Raises `Damaged` where nothing can be asked."""
        embedder = self._meaning.embedder
        faults = {fault.part: fault.error for fault in self._session.check(embedder.dims if embedder else None)}
        if error := faults.get("tables"):
            raise error
        probes = find_probes(self._session, self._analyzer)
        yield "lexical", *self._by_words(probes, faults.get("lexical"))
        yield "vector", *self._by_meaning(probes, faults.get("vector"))
        if "lexical" not in faults:  # which says where to look for a Chinese keyword
            yield "exact", *self._exactly(probes)

    def _by_words(self, probes: Sequence[Probe], fault: ZhikuError | None) -> tuple[LegHealth, list[ZhikuError]]:
        if fault:
            return LegHealth(state="damaged"), [fault]
        health = _judge([self._is_found(probe) for probe in probes])
        return health, [self._blind("lexical", health)] if health.state == "blind" else []

    def _by_meaning(self, probes: Sequence[Probe], fault: ZhikuError | None) -> tuple[LegHealth, list[ZhikuError]]:
        meaning = self._meaning
        if meaning.embedder is None:
            reasons = [meaning.reason] if meaning.reason and meaning.is_fault and self._totals.chunks else []
            return LegHealth(state="blind" if reasons else "off"), [*reasons]
        pending = [self._pending()] if self._totals.pending_vectors else []
        if fault:
            return LegHealth(state="damaged"), [fault, *pending]
        try:
            health = _judge([answer for probe in probes for answer in self._is_near(probe, meaning.embedder)])
        except (MissingExtra, ModelError) as error:
            return LegHealth(state="blind"), [error, *pending]
        return health, [*([self._blind("vector", health)] if health.state == "blind" else []), *pending]

    def _exactly(self, probes: Sequence[Probe]) -> tuple[LegHealth, list[ZhikuError]]:
        chosen = probes[:: max(1, len(probes) // EXACT_PROBES)]
        health = _judge([any(grep(self._session, probe.sentence)) for probe in chosen])
        return health, [self._blind("exact", health)] if health.state == "blind" else []

    def _is_found(self, probe: Probe) -> bool:
        query = Query(text=probe.sentence, top_k=self._reach, mode="lexical")
        best = rank({self._name: self._session}, query, self._analyzer).chunks[: self._reach]
        return self._holds([ranked.chunk_id for ranked in best], probe)

    def _is_near(self, probe: Probe, embedder: Embedder) -> list[bool]:
        """Return whether the sentence is found by meaning alone: a damaged full text must not be blamed on vectors.

        Nothing is returned for a chunk that has no vector yet.
        """
        vector = embedder.embed_queries([probe.sentence])[0]
        if not self._session.cosines(vector, [probe.chunk_id]):
            return []
        best = self._session.search_vectors(vector, limit=self._reach).candidates
        return [self._holds([candidate.chunk_id for candidate in best], probe)]

    def _holds(self, chunk_ids: Sequence[int], probe: Probe) -> bool:
        return any(probe.sentence in stored.chunk.text for stored in self._session.chunks(chunk_ids))

    def _pending(self) -> ZhikuError:
        return IndexStateError(
            "{count} of {total} chunks in base {base!r} have no vector yet: a search by meaning does not see them.",
            count=self._totals.pending_vectors,
            total=self._totals.chunks,
            base=self._name,
            hint="search it by meaning too, after: zhiku index -b {base}",
        )

    def _blind(self, leg: LegName, health: LegHealth) -> ZhikuError:
        about = {
            "missed": health.asked - health.found,
            "asked": health.asked,
            "base": self._name,
        }
        if leg == "lexical":
            return IndexStateError(
                "a search by words misses {missed} of {asked} sentences that stand in base {base!r}.",
                hint=_ALIKE,
                **about,
            )
        if leg == "vector":
            return IndexStateError(
                "a search by meaning misses {missed} of {asked} sentences that stand in base {base!r}.",
                hint=_ALIKE,
                **about,
            )
        return IndexStateError(
            "grep misses {missed} of {asked} sentences that stand in base {base!r}.", hint=_ALIKE, **about
        )


def find_probes(session: ReadSession, analyzer: Analyzer) -> list[Probe]:
    """Return sentences spread over a base, up to `PROBES` of each script; chunks of few words give none."""
    by_script: dict[str, list[Probe]] = {}
    for stored in session.sample(PROBES * CHUNKS_PER_PROBE):
        sentence = longest_sentence(stored.chunk.text, analyzer)
        if sentence:
            probe = Probe(sentence=sentence, chunk_id=stored.chunk_id)
            by_script.setdefault(stored.document.script, []).append(probe)
    return [
        max(group, key=lambda probe: len(probe.sentence))
        for probes in by_script.values()
        for group in _spread(probes, PROBES)
    ]


def _spread(probes: Sequence[Probe], count: int) -> Iterator[Sequence[Probe]]:
    """Yield the probes in `count` groups of neighbours, or each by itself where there are fewer."""
    count = min(count, len(probes))
    for i in range(count):
        yield probes[i * len(probes) // count : (i + 1) * len(probes) // count]


def longest_sentence(text: str, analyzer: Analyzer) -> str:
    """Return the longest sentence of a text within one line, cut where it is very long; empty if all are too short."""
    sentences = [_cut(match.group().strip()) for match in _SENTENCE.finditer(text)]
    fitting = [sentence for sentence in sentences if _count_terms(sentence, analyzer) >= MIN_TERMS]
    return max(fitting, key=len, default="")


def _cut(sentence: str) -> str:
    if len(sentence) <= MAX_SENTENCE_CHARS:
        return sentence
    blank = sentence.rfind(" ", MAX_SENTENCE_CHARS // 2, MAX_SENTENCE_CHARS)
    return sentence[: blank if blank > 0 else MAX_SENTENCE_CHARS]


def _count_terms(sentence: str, analyzer: Analyzer) -> int:
    return sum(len(run.terms) for run in analyzer.runs(sentence))


def _judge(answers: Sequence[bool]) -> LegHealth:
    if not answers:
        return LegHealth()
    found, asked = sum(answers), len(answers)
    return LegHealth(state="blind" if asked - found > MAX_MISSED * asked else "ok", found=found, asked=asked)
