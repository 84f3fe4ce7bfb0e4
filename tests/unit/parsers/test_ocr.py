"""Pages are turned upright before what OCR sees on them is believed."""

from __future__ import annotations

import numpy as np
import pytest

from zhiku.parsers.ocr import Seen, read_page

HEIGHT, WIDTH = 300, 200


class TurnedEngine:
    """Reads pages of which a corner is marked; where that is not the top left, it reads as such engines do."""

    def __init__(self, score: float = 0.6) -> None:
        self.reads = 0
        self._score = score

    def read(self, image: np.ndarray) -> list[Seen]:
        self.reads += 1
        height, width, _ = image.shape
        if image[0, 0, 0]:
            return [_seen("upright text", 0.99, 10, 10, 150, 30), _seen("second line", 0.98, 10, 40, 150, 60)]
        if height > width:
            return [_seen("ʇxǝʇ", self._score, 10, 10, 150, 30), _seen("puooǝs", self._score, 10, 40, 150, 60)]
        return [_seen("text", 0.95, 10, 10, 30, 150), _seen("line", 0.95, 40, 10, 60, 150)]


def _seen(text: str, score: float, left: float, top: float, right: float, bottom: float) -> Seen:
    return Seen([(left, top), (right, top), (right, bottom), (left, bottom)], text, score)


def _page() -> np.ndarray:
    page = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    page[0, 0] = 255
    return page


@pytest.mark.parametrize(("quarters", "reads"), [(0, 1), (1, 3), (2, 2), (3, 2)])
def test_a_page_that_was_turned_is_turned_back(quarters: int, reads: int) -> None:
    engine = TurnedEngine()
    page = read_page(engine, np.rot90(_page(), quarters))
    assert [line.text for line in page.lines] == ["upright text", "second line"]
    assert (page.width, page.height, engine.reads) == (WIDTH, HEIGHT, reads)


def test_what_is_hardly_read_is_left_out() -> None:
    class Unsure:
        def read(self, image: np.ndarray) -> list[Seen]:
            return [
                _seen("a long line that is sure", 0.99, 10, 10, 150, 30),
                _seen("specks", 0.4, 10, 40, 60, 60),
                _seen("", 0.0, 10, 70, 20, 80),
            ]

    assert [line.text for line in read_page(Unsure(), _page()).lines] == ["a long line that is sure"]


def test_an_upright_page_that_is_hard_to_read_stays_upright() -> None:
    page = read_page(TurnedEngine(score=0.8), np.zeros((HEIGHT, WIDTH, 3), np.uint8))
    assert [line.text for line in page.lines] == ["ʇxǝʇ", "puooǝs"]
    assert page.confidence == pytest.approx(0.8)


def test_a_blank_page_has_no_lines_and_is_read_once() -> None:
    class Blind:
        reads = 0

        def read(self, image: np.ndarray) -> list[Seen]:
            self.reads += 1
            return []

    engine = Blind()
    assert read_page(engine, _page()).lines == ()
    assert engine.reads == 1
