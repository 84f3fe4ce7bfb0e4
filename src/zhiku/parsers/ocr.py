"""Recognise text in images with RapidOCR (PP-OCRv6), whose models come with its package: nothing is fetched."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from zhiku.text.recognised import Quad, RecognisedLine, RecognisedPage, upright_boxes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    """Of shape (height, width, 3): blue, green, red."""

DETECTOR: Final = "PP-OCRv6_det_small.onnx"
RECOGNISER: Final = "PP-OCRv6_rec_small.onnx"

READING: Final = 1
"""Of this module and of how pages are rendered for it; raised with whatever changes what is seen."""

MIN_SCORE: Final = 0.5
"""Of a line that is believed."""

GOOD_SCORE: Final = 0.85
"""The mean score of the characters of upright pages is .97 to 1, of pages upside down or sideways .5 to .79, text and
tables alike, if boxes of which nothing could be read count as a character (measured on rendered pages)."""

TALL: Final = 1.5
MAX_TALL_SHARE: Final = 0.7
"""A page with more boxes that are TALL times higher than wide lies on its side, though the engine reads single boxes
so, too: each of them turned, in the wrong order."""


class Seen(NamedTuple):
    """A line as the engine saw it; without text where it could read nothing."""

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
        """Return what stands in the image, in no order."""
        from rapidocr.utils.process_img import map_boxes_to_original

        # Its own call would leave out the boxes of which nothing could be read, which tell a page that was turned.
        prepared, steps = self._engine.preprocess_img(image)
        found, _, read, _ = self._engine.run_ocr_steps(prepared, steps)
        if found.boxes is None or read.txts is None:
            return []
        quads = map_boxes_to_original(found.boxes, steps, *image.shape[:2])
        return [
            Seen([(float(x), float(y)) for x, y in quad], text, float(score))
            for quad, text, score in zip(quads, read.txts, read.scores, strict=True)
        ]


@cache
def load_engine() -> Ocr:
    """Return the engine, loaded once for each process."""
    return RapidOcr()


def engine_version() -> str:
    """Return a name that changes whenever something else may be read; nothing is loaded for it."""
    return f"rapidocr {version('rapidocr')} {RECOGNISER} {READING}"


def read_page(engine: Ocr, image: Image) -> RecognisedPage:
    """Return what stands on a page, turned upright first where it lies on its side or head."""
    seen = engine.read(image)
    tried = [(image, seen)]
    for quarters in (1, 3, 2) if _lies_on_its_side(seen) else (2, 1, 3):
        if not seen or _uprightness(tried[-1][1]) >= GOOD_SCORE:
            break
        import numpy as np

        turned: Image = np.ascontiguousarray(np.rot90(image, quarters))
        tried.append((turned, engine.read(turned)))
    # Half of what is there must have been read: a single clear word proves nothing.
    most = max(_count_chars(each) for _, each in tried)
    likely = [each for each in tried if 2 * _count_chars(each[1]) >= most]
    return _page(*max(likely, key=lambda each: _uprightness(each[1])))


def _uprightness(seen: Sequence[Seen]) -> float:
    """Return the mean score of all characters, less 1 if the page lies on its side."""
    weights = [max(1, len(each.text)) for each in seen]
    total = sum(each.score * weight for each, weight in zip(seen, weights, strict=True))
    return total / max(sum(weights), 1) - _lies_on_its_side(seen)


def _count_chars(seen: Sequence[Seen]) -> int:
    return sum(len(each.text) for each in seen)


def _lies_on_its_side(seen: Sequence[Seen]) -> bool:
    return _tall_share(seen) > MAX_TALL_SHARE


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
        if each.text.strip() and each.score >= MIN_SCORE
    ]
    return RecognisedPage(width=width, height=height, lines=tuple(lines))


def _package() -> Path:
    found = find_spec("rapidocr")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent
