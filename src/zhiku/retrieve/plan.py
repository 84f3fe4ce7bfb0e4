"""From what was asked to what will be looked for."""

from __future__ import annotations

from collections.abc import Iterable

from zhiku.frozen import frozen
from zhiku.model import LexicalQuery
from zhiku.text.analyze import Analyzer, Run

MAX_TERMS = 256
"""A pasted page is a query too; the store's budget decides which of its terms are worth their cost."""

MAX_PHRASE_TOKENS = 24
PHRASE_BONUS = 0.05
"""What a chunk that holds the query's very words earns, as a share of the best score."""

# Weights of a match in the body, title, headings and file name: chosen on the sets of evals/ (evals/README.md).
FIELD_WEIGHTS = (1.0, 3.0, 2.0, 1.0)

# Words that stand in nearly every English text and in most English questions. They are indexed, so that phrases
# hold them, but a query that has other words does without them (docs/adr/0002-analyzer.md).
STOP_WORDS = frozenset(
    "a about an and are as at be by can do does for from had has have how i if in into is it its me my of on or our"
    " so than that the their them then there these they this to was we were what when where which who whom why will"
    " with would you your".split()
)


@frozen
class Plan:
    """What will be run for a query."""

    lexical: LexicalQuery
    """Any of these finds a chunk."""
    phrase: LexicalQuery
    """The query's words in a row: a chunk that holds them earns `PHRASE_BONUS`."""
    is_keyword: bool
    """One word or one unbroken run was asked for. Then every document that holds it should be seen before one document
    is seen twice, and a passage begins where the word stands."""
    tokens: frozenset[str]
    """Every token whose match is shown to the reader."""

    def matches(self, tokens: Iterable[str]) -> bool:
        """Return whether any of these tokens is one that was asked for."""
        prefixes = self.lexical.prefixes
        return any(token in self.tokens or token.startswith(prefixes) for token in tokens)


def build_plan(text: str, analyzer: Analyzer) -> Plan:
    """Return the plan for a query; its lexical part is empty where the text holds no word at all."""
    runs = analyzer.runs(text)
    content = [run for run in runs if run.is_cjk or run.text.lower() not in STOP_WORDS] or runs
    single = [run.text for run in content if run.is_cjk and len(run.text) == 1]
    terms = dict.fromkeys(term for run in content if run.text not in single for term in run.terms)
    return Plan(
        lexical=LexicalQuery(
            terms=tuple(terms)[:MAX_TERMS], prefixes=tuple(dict.fromkeys(single)), weights=FIELD_WEIGHTS
        ),
        phrase=LexicalQuery(phrases=_phrases(runs), weights=FIELD_WEIGHTS),
        is_keyword=len(runs) == 1,
        tokens=frozenset(token for run in content for token in run.tokens),
    )


def _phrases(runs: list[Run]) -> tuple[tuple[str, ...], ...]:
    tokens = [token for run in runs for token in run.tokens]
    if runs and runs[-1].is_cjk and len(runs[-1].text) > 1:
        # The query's last run may be the beginning of a longer one.
        tokens.pop()
    return (tuple(tokens),) if 1 < len(tokens) <= MAX_PHRASE_TOKENS else ()
