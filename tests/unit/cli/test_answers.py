"""What a reader sees of an answer: its hits, and what should be known besides."""

from typing import Any

import pytest
from screens import pipe

from zhiku.answer import Answer, Health, Hit, Leg, Query
from zhiku.cli.health import looked_for, notes
from zhiku.cli.hits import as_markdown, as_text
from zhiku.errors import ModelUnavailable, QueryError
from zhiku.retrieve.relevance import NOTHING_FOUND

LIKELY = NOTHING_FOUND + 0.01
UNLIKELY = "None of these is likely to answer the question; they are the nearest there are."


def hit(**values: Any) -> Hit:
    told = {
        "rank": 1,
        "score": 1.2345,
        "base": "notes",
        "doc_id": 1,
        "path": "a.md",
        "file": "/docs/a.md",
        "title": "Pumps",
        "section": (),
        "page": None,
        "page_end": None,
        "line_start": 1,
        "line_end": 1,
        "text": "the pump",
        "locator": "zhiku://notes/a.md",
        "file_state": "unchanged",
    }
    return Hit(**told | values)


def answer(*hits: Hit, bases: tuple[str, ...] = ("notes",), **health: Any) -> Answer:
    legs = {"lexical": Leg(ran=True, candidates=3), "vector": Leg(ran=False, candidates=0)}
    return Answer(query="pump", bases=bases, mode="hybrid", hits=hits, health=Health(**{"legs": legs} | health))


def said(found: Answer, language: Any = "en", **query: Any) -> list[str]:
    return list(notes(found, pipe(language), Query(text=found.query, **query)))


@pytest.mark.parametrize(
    ("relevance", "shown"), [(None, "1. Pumps  1.23"), (0.617, "1. Pumps  62%"), (0.0, "1. Pumps  0%")]
)
def test_a_hit_shows_its_relevance_or_else_its_score(relevance: float | None, shown: str) -> None:
    assert next(as_text(answer(hit(relevance=relevance)), pipe(), whole=True, explain=False)) == shown


def test_a_hit_with_hidden_text_says_so_beside_its_place() -> None:
    shown = answer(hit(hidden_text=True, file_state="changed"))
    notes = "(changed since it was indexed)  (holds text that its file does not show)"
    assert list(as_text(shown, pipe(), whole=True, explain=False))[1] == f"   a.md  L1  {notes}"
    assert notes in list(as_markdown(shown, pipe()))[2]


def test_an_explained_hit_says_what_its_score_is_made_of() -> None:
    parts = {"words": 0.53, "meaning": 0.7, "standing": 2.24, "cosine": 0.8512, "share": 0.5}
    lines = list(as_text(answer(hit(relevance=0.6, explanation=parts)), pipe(), whole=True, explain=True))
    (line,) = [line.strip() for line in lines if "score" in line]
    assert line.startswith("score 1.23: words 0.53 + meaning 0.70 (+2.2 standard deviations from the mean;")
    assert line.endswith(" cosine 0.851); holds 50% of the words")


def test_a_hit_without_a_vector_is_explained_as_one() -> None:
    parts = {"words": 1.2345, "meaning": 0.0, "share": 0.9}
    lines = list(as_text(answer(hit(relevance=0.2, explanation=parts)), pipe(), whole=True, explain=True))
    assert "   score 1.23: words 1.23, meaning unknown: it has no vector yet" in lines


def test_only_the_legs_that_ran_are_explained() -> None:
    assert list(looked_for(answer(), pipe())) == ["Candidates by lexical: 3"]


def test_hits_that_are_unlikely_to_answer_are_called_so() -> None:
    assert said(answer(hit(relevance=0.01), hit(relevance=NOTHING_FOUND - 0.01))) == [UNLIKELY]
    assert said(answer(hit(relevance=0.01), hit(relevance=LIKELY))) == []
    assert said(answer(hit(relevance=0.01), hit(relevance=None))) == []


def test_chunks_that_meaning_could_not_see_are_counted_with_the_command_that_mends_it() -> None:
    (one,) = said(answer(hit(relevance=LIKELY), pending_vectors=7))
    assert one == "Not searched by meaning: 7 chunks that have no vector yet; embed them: zhiku index --base notes"
    (several,) = said(answer(hit(relevance=LIKELY), bases=("notes", "work"), pending_vectors=7))
    assert several.endswith("see which: zhiku status -b notes -b work")


def test_what_kept_a_leg_from_running_is_told_with_its_hint() -> None:
    mendable = ModelUnavailable("nothing in base {base!r} is known.", base="notes", hint="run: zhiku index -b {base}")
    plain = QueryError("the query holds no letter, digit or Han character to look for.")
    assert said(answer(hit(), degraded=(mendable, plain))) == [
        "Note: nothing in base 'notes' is known.",
        "Hint: run: zhiku index -b notes",
        "Note: the query holds no letter, digit or Han character to look for.",
    ]
    assert said(answer(hit(), degraded=(plain,)), "zh") == ["注意：查询里没有可供查找的字母、数字或汉字。"]


def test_an_empty_answer_says_whether_relevance_left_nothing() -> None:
    assert said(answer(), min_relevance=0.4) == ["Nothing found for 'pump' in notes that is 40% relevant."]
    nothing = {"lexical": Leg(ran=True, candidates=0), "vector": Leg(ran=True, candidates=0)}
    assert said(answer(legs=nothing), min_relevance=0.4) == ["Nothing found for 'pump' in notes."]
