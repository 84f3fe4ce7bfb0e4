"""The question as a vector: one for each embedder that made vectors of the bases searched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING

from zhiku.errors import MissingExtra, ModelError, ZhikuError
from zhiku.frozen import frozen
from zhiku.model import CosineScale
from zhiku.ports import Embedder
from zhiku.text.script import script_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


POLL_S = 0.2
"""How long Ctrl-C may go unheard where the system does not interrupt a wait for a thread."""


@frozen
class Meaning:
    """How a base can be searched by meaning: with an embedder, or not, and then why."""

    embedder: Embedder | None = None
    reason: ZhikuError | None = None
    """Why there is no embedder; its message and hint are for the reader."""
    is_fault: bool = False
    """Whether the reader must be told, since the base should have been searched by meaning."""


@frozen
class Question:
    """A question as a base's embedder sees it."""

    vector: NDArray[np.float32]
    space: str
    """The embedder's fingerprint: cosines of one space compare, over all bases that share it."""
    scale: CosineScale
    script: str


@frozen
class Embedded:
    """A question for each base that can be searched by meaning, and why others cannot."""

    questions: Mapping[str, Question]
    reasons: tuple[ZhikuError, ...]
    """For every base without a question."""
    faults: tuple[ZhikuError, ...]
    """Those of the reasons that a reader must be told."""


def embed_question(text: str, meanings: Mapping[str, Meaning]) -> Embedded:
    """Return a question for all bases; each embedder embeds it once. An embedder that fails is a reason, no error."""
    questions: dict[str, Question] = {}
    reasons: list[ZhikuError] = []
    faults: list[ZhikuError] = []
    by_space: dict[str, Question | ZhikuError] = {}
    for name, meaning in meanings.items():
        if meaning.embedder is None:
            if meaning.reason is not None:
                reasons.append(meaning.reason)
                faults += [meaning.reason] if meaning.is_fault else []
            continue
        space = meaning.embedder.fingerprint
        if space not in by_space:
            by_space[space] = _embed(text, meaning.embedder)
            if isinstance(error := by_space[space], ZhikuError):
                reasons.append(error)
                faults.append(error)
        if isinstance(question := by_space[space], Question):
            questions[name] = question
    return Embedded(questions=questions, reasons=tuple(reasons), faults=tuple(faults))


def _embed(text: str, embedder: Embedder) -> Question | ZhikuError:
    try:
        vector = embedder.embed_queries([text])[0]
    except (MissingExtra, ModelError) as error:
        return error
    return Question(vector=vector, space=embedder.fingerprint, scale=embedder.scale, script=script_of(text))


@contextmanager
def embedding(text: str, meanings: Mapping[str, Meaning]) -> Iterator[Callable[[], Embedded]]:
    """Run `embed_question` in a thread of its own; what is yielded waits for it and gives its result.

    The model and SQLite both let go of the interpreter while they work, so that a search by words costs little time
    beside it. The thread has ended when the block has, however that ended: a process must not exit within the model.
    Only for a server that is slow to answer nobody waits who has given up.
    """
    done: list[Embedded | Exception] = []

    def embed() -> None:
        try:
            done.append(embed_question(text, meanings))
        except Exception as error:
            done.append(error)  # raised where the result is asked for

    used = [meaning.embedder for meaning in meanings.values() if meaning.embedder is not None]
    is_remote = all(embedder.is_remote for embedder in used)
    thread = Thread(target=embed, name="embed-question", daemon=is_remote)

    def result() -> Embedded:
        while thread.is_alive():
            thread.join(POLL_S)
        if isinstance(done[0], Exception):
            raise done[0]
        return done[0]

    if not used:
        yield lambda: embed_question(text, meanings)
        return
    thread.start()
    try:
        yield result
    except BaseException:
        if not is_remote:
            thread.join()
        raise
    thread.join()
