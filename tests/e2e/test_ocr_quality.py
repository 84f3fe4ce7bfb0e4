"""OCR reads rendered pages nearly without error, in the order in which a person does, and reaches for no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scans import ENGLISH, SIMPLIFIED, TRADITIONAL, as_scan, draw_page, draw_table, error_rate, needs_font, needs_ocr
from zhiku.parsers.ocr import load_engine, read_page
from zhiku.text.recognised import RecognisedPage, print_page

pytestmark = [needs_ocr, needs_font]

OTHER = ENGLISH.replace("boiler", "engine").replace("March", "October")
MAX_ERROR_RATE = 0.01
MAX_ERROR_RATE_OF_COLUMNS = 0.02
NO_NETWORK = Path(__file__).parents[1] / "cases" / "tools" / "shim_no_network"


def _read(page: Any) -> RecognisedPage:
    import numpy as np

    return read_page(load_engine(), np.ascontiguousarray(np.asarray(page.convert("RGB"))[:, :, ::-1]))


def _text(page: RecognisedPage) -> str:
    return "\n".join(line.text for line in print_page(1, page, 600, 420).lines)


@pytest.mark.parametrize("text", [SIMPLIFIED, TRADITIONAL, ENGLISH], ids=["simplified", "traditional", "english"])
@pytest.mark.parametrize("condition", [lambda page: page, as_scan], ids=["clean", "scan"])
def test_a_page_is_read_nearly_without_error(text: str, condition: Callable[[Any], Any]) -> None:
    page = _read(condition(draw_page(text)))
    assert error_rate(text, _text(page)) <= MAX_ERROR_RATE
    assert page.confidence > 0.9


def test_english_words_stay_apart() -> None:
    words, read = ENGLISH.split(), set(_text(_read(draw_page(ENGLISH))).split())
    assert sum(word in read for word in words) >= 0.95 * len(words)


@pytest.mark.parametrize("columns", [(SIMPLIFIED, TRADITIONAL), (ENGLISH, OTHER)], ids=["chinese", "english"])
def test_two_columns_are_read_one_after_the_other(columns: tuple[str, str]) -> None:
    page = _read(as_scan(draw_page(*columns)))
    assert error_rate("".join(columns), _text(page)) <= MAX_ERROR_RATE_OF_COLUMNS


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_that_was_scanned_turned_is_read_upright(degrees: int) -> None:
    page = draw_page(SIMPLIFIED)
    assert error_rate(SIMPLIFIED, _text(_read(page.rotate(degrees, expand=True)))) <= MAX_ERROR_RATE


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_turned_page_of_a_few_cells_is_read_upright_and_row_by_row(degrees: int) -> None:
    rows = [
        ("品名", "数量", "备注"),
        ("阀门", "3", "需要更换"),
        ("压力表", "25", "每年校准一次"),
        ("滤网", "40", "库房乙"),
    ]
    assert _text(_read(draw_table(*rows).rotate(degrees, expand=True))) == "\n".join(map(" ".join, rows))


def test_nothing_is_fetched(tmp_path: Path) -> None:
    page = tmp_path / "page.png"
    draw_page(SIMPLIFIED[:30]).save(page)
    code = (
        "import sys; from pathlib import Path; from zhiku.parsers.page_reader import PageReader;"
        " from zhiku.model import Source; path = Path(sys.argv[1]);"
        " reader = PageReader(format_name='image', page_no=1);"
        " source = Source(root='', path='a.png', size_bytes=0, mtime_ns=0, sha256='');"
        " print(reader.parse(source, path.read_bytes()).metadata['recognised']['lines'][0][0])"
    )
    log = tmp_path / "network.log"
    environ = {**os.environ, "NETWORK_LOG": str(log), "PYTHONIOENCODING": "utf-8"}
    environ["PYTHONPATH"] = os.pathsep.join([str(NO_NETWORK), *filter(None, [environ.get("PYTHONPATH")])])
    prefix = ["unshare", "-rn"] if _can_unshare() else []
    done = subprocess.run(
        [*prefix, sys.executable, "-c", code, str(page)],
        env=environ,
        capture_output=True,
        encoding="utf-8",
        timeout=180,
        check=False,
    )
    assert "锅炉" in done.stdout, done.stderr
    assert not log.exists()


def _can_unshare() -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0
