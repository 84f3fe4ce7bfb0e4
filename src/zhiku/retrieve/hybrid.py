"""Merging the legs: what words and meaning say of the same chunks, over one base or several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from zhiku.model import Candidate, ScriptStatistics, VectorRanking
from zhiku.ports import ReadSession
from zhiku.retrieve.fuse import Words, fuse, weigh
from zhiku.retrieve.joint import Statistics, perfect_score, statistics_of, weights_of
from zhiku.retrieve.meaning import Question
from zhiku.retrieve.plan import Plan
from zhiku.retrieve.present import Ranked
from zhiku.retrieve.relevance import Evidence
from zhiku.retrieve.standing import GROUP_COUNT, Standing, pooled

STANDS_OUT = 1.0
"""From this many standard deviations above the mean on, meaning is named as a reason for a hit."""


def merge(
    sessions: Mapping[str, ReadSession],
    by_words: Sequence[Ranked],
    nearest: Mapping[str, VectorRanking],
    plan: Plan,
    questions: Mapping[str, Question],
) -> list[Ranked]:
    """Return all candidates of all legs in one ranking; equal scores by base and id.

    `by_words` are the candidates by words, best first, with their scores over all bases, `nearest` those by meaning.
    """
    counts = [statistics_of(session, plan.lexical) for session in sessions.values()]
    standings = _standings(nearest, questions)
    # In order of their scores, so that the first of a document is its best.
    documents = {(ranked.base, ranked.doc_id): ranked.score for ranked in reversed(by_words)}
    own: dict[tuple[str, int], float] = {}
    for ranked in by_words:
        document = (ranked.base, ranked.doc_id)
        own[document] = max(own.get(document, 0.0), ranked.score - ranked.gained)
    words = weigh(
        list(documents.values()),
        perfect_score(plan.lexical, counts),
        _lacking(sessions, plan, counts, list(standings.values())),
        list(own.values()),
    )
    merged: list[Ranked] = []
    for name, session in sessions.items():
        known = {ranked.chunk_id: ranked for ranked in by_words if ranked.base == name}
        found = nearest[name].candidates if name in nearest else ()
        merged += _merge_base(session, name, known, found, questions.get(name), standings, words)
    return sorted(merged, key=lambda ranked: (-ranked.score, ranked.base, ranked.chunk_id))


def _merge_base(
    session: ReadSession,
    name: str,
    known: Mapping[int, Ranked],
    found: Sequence[Candidate],
    question: Question | None,
    standings: Mapping[str, Standing],
    words: Words,
) -> Iterable[Ranked]:
    nearest = {candidate.chunk_id: candidate for candidate in found}
    cosines = {chunk_id: c.score for chunk_id, c in nearest.items()}
    if question:
        cosines |= session.cosines(question.vector, [chunk_id for chunk_id in known if chunk_id not in nearest])
    doc_ids = {chunk_id: ranked.doc_id for chunk_id, ranked in known.items()}
    doc_ids |= {chunk_id: candidate.doc_id for chunk_id, candidate in nearest.items()}
    scripts = session.scripts(list(set(doc_ids.values())))
    good = question.scale.good if question else 1.0
    for chunk_id, doc_id in doc_ids.items():
        script = scripts[doc_id]
        evidence = None
        if question and chunk_id in cosines:
            evidence = _evidence(cosines[chunk_id], script, question, standings[question.space])
        standing = evidence.standing if evidence else 0.0
        by_words = known.get(chunk_id)
        score = by_words.score if by_words else 0.0
        parts = fuse(score, standing, good, script, words, is_complete=bool(by_words and by_words.is_complete))
        why = by_words.why if by_words else ()
        yield Ranked(
            base=name,
            chunk_id=chunk_id,
            doc_id=doc_id,
            score=parts.score,
            why=(*why, "meaning") if standing >= STANDS_OUT else why,
            gained=by_words.gained if by_words else 0.0,
            named=by_words.named if by_words else frozenset(),
            parts=parts,
            evidence=evidence,
        )


def _evidence(cosine: float, script: str, question: Question, standing: Standing) -> Evidence:
    return Evidence(
        cosine=cosine,
        standing=standing.of(cosine, script),
        vectors=sum(standing.counts.values()),
        nearness=(cosine - question.scale.mean) / question.scale.std,
        crosses=script != question.script,
    )


def _standings(nearest: Mapping[str, VectorRanking], questions: Mapping[str, Question]) -> dict[str, Standing]:
    """Return for each embedder how cosines of its question stand, over all bases that it made the vectors of."""
    made = {}
    for space in {question.space for question in questions.values()}:
        (question, *_) = [question for question in questions.values() if question.space == space]
        parts: dict[str, list[ScriptStatistics]] = {}
        for name, ranking in nearest.items():
            for script, part in ranking.statistics.items() if questions[name].space == space else ():
                parts.setdefault(script, []).append(part)
        made[space] = Standing(
            {script: pooled(group) for script, group in parts.items()}, question.script, question.scale
        )
    return made


def _lacking(
    sessions: Mapping[str, ReadSession], plan: Plan, counts: Sequence[Statistics], standings: Sequence[Standing]
) -> dict[str, float]:
    """Return for each script but the question's own which share of the words its documents lack and others have.

    A script with few documents is no evidence, and its share is smaller for it.
    """
    sizes = Counter[str]()
    for standing in standings:
        sizes.update(standing.counts)
    if len(sizes) < 2:
        return {}
    weights = weights_of(plan.lexical, counts)
    known = {script: _known(sessions, script, weights) for script in sizes}
    most = max(known.values())
    own = standings[0].own
    return {
        script: (1 - weight / most) * sizes[script] / (sizes[script] + GROUP_COUNT)
        for script, weight in known.items()
        if script != own and most
    }


def _known(sessions: Mapping[str, ReadSession], script: str, weights: Mapping[str, float]) -> float:
    """Return the weight of the terms that stand in documents of a script."""
    terms = frozenset().union(*(session.terms_in(script, list(weights)) for session in sessions.values()))
    return sum(weight for term, weight in weights.items() if term in terms)
