"""Recognise text in images with RapidOCR (PP-OCRv6), whose models come with its package: nothing is fetched."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from zhiku.text.recognised import Quad, RecognisedLine, RecognisedPage, upright_boxes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    """Of shape (height, width, 3): blue, green, red."""

DETECTOR: Final = "PP-OCRv6_det_small.onnx"
RECOGNISER: Final = "PP-OCRv6_rec_small.onnx"

GOOD_SCORE: Final = 0.85
"""The mean score of upright pages is .99, of pages upside down or sideways .60 to .72 (measured on rendered pages)."""

TALL: Final = 1.5
MAX_TALL_SHARE: Final = 0.7
"""A page with more boxes that are TALL times higher than wide lies on its side, though the engine reads single boxes
so, too: each of them turned, in the wrong order."""


class Seen(NamedTuple):
    """A line as the engine saw it."""

    quad: Quad
    text: str
    score: float


class Ocr(Protocol):
    """Finds lines of text in an image and reads them. Same image, same result; no network."""

    def read(self, image: Image) -> list[Seen]:
        """Return what stands in the image, in no order."""
        ...


class RapidOcr:
    """RapidOCR on one core, without its classifier of directions, which turns lines that are upright."""

    def __init__(self) -> None:
        """Load the models, which takes about a second."""
        import cv2
        from rapidocr import RapidOCR

        cv2.setNumThreads(1)
        models = _package() / "models"
        # With the path of a model, RapidOCR never looks for one to download.
        self._engine = RapidOCR(
            params={
                "Global.use_cls": False,
                "Global.log_level": "critical",
                "Det.model_path": str(models / DETECTOR),
                "Rec.model_path": str(models / RECOGNISER),
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def read(self, image: Image) -> list[Seen]:
        """Return what stands in the image, in no order; scores below .5 are left out."""
        result: Any = self._engine(image)
        if result.boxes is None:
            return []
        return [
            Seen([(float(x), float(y)) for x, y in quad], text, float(score))
            for quad, text, score in zip(result.boxes, result.txts, result.scores, strict=True)
        ]


@cache
def load_engine() -> Ocr:
    """Return the engine, loaded once for each process."""
    return RapidOcr()


def engine_version() -> str:
    """Return a name that changes whenever the engine may read something else; nothing is loaded for it."""
    return f"rapidocr {version('rapidocr')} {RECOGNISER}"


def read_page(engine: Ocr, image: Image) -> RecognisedPage:
    """Return what stands on a page, turned upright first where it lies on its side or head."""
    seen = engine.read(image)
    turns = _turns_to_try(seen)
    if not turns:
        return _page(image, seen)
    import numpy as np

    tried = [(image, seen)]
    for quarters in turns:
        turned: Image = np.ascontiguousarray(np.rot90(image, quarters))
        tried.append((turned, engine.read(turned)))
    chars = sum(len(each.text) for each in seen)
    # Half of what is there must have been read: a single clear word proves nothing.
    likely = [each for each in tried if 2 * sum(len(line.text) for line in each[1]) >= chars]
    return _page(*max(likely, key=lambda each: _uprightness(each[1])))


def _turns_to_try(seen: Sequence[Seen]) -> tuple[int, ...]:
    """Return by how many quarters the page may have to be turned, against the clock."""
    if not seen:
        return ()
    if _tall_share(seen) > MAX_TALL_SHARE:
        return (1, 3)
    return (2,) if _mean_score(seen) < GOOD_SCORE else ()


def _uprightness(seen: Sequence[Seen]) -> float:
    if not seen:
        return 0.0
    return _mean_score(seen) - (_tall_share(seen) > MAX_TALL_SHARE)


def _mean_score(seen: Sequence[Seen]) -> float:
    return sum(each.score for each in seen) / len(seen)


def _tall_share(seen: Sequence[Seen]) -> float:
    """Return the share of lines of several characters whose boxes are higher than wide."""
    lines = [each.quad for each in seen if len(each.text) > 1]
    if not lines:
        return 0.0
    tall = 0
    for quad in lines:
        width = max(x for x, _ in quad) - min(x for x, _ in quad)
        height = max(y for _, y in quad) - min(y for _, y in quad)
        tall += height > TALL * width
    return tall / len(lines)


def _page(image: Image, seen: Sequence[Seen]) -> RecognisedPage:
    height, width, _ = image.shape
    boxes = upright_boxes([each.quad for each in seen])
    lines = [
        RecognisedLine(text=each.text, score=each.score, box=box)
        for each, box in zip(seen, boxes, strict=True)
        if each.text.strip()
    ]
    return RecognisedPage(width=width, height=height, lines=tuple(lines))


def _package() -> Path:
    found = find_spec("rapidocr")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent
