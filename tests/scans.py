"""Pages of text as images, and PDFs of them, for tests of OCR; these need a font with Han characters and the extra."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from zhiku.registry import has_ocr

FONTS = (
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/System/Library/Fonts/PingFang.ttc",
    "/System/Library/Fonts/STHeiti Light.ttc",
    "C:/Windows/Fonts/msyh.ttc",
)
FONT = next((font for font in FONTS if Path(font).exists()), "")

needs_ocr = pytest.mark.skipif(not has_ocr(), reason='OCR is not installed: pip install "zhiku[ocr]"')
needs_font = pytest.mark.skipif(not FONT, reason=f"no font with Han characters, such as {FONTS[0]}")

SIMPLIFIED = (
    "锅炉每年三月由设备科检验一次，检验报告保存五年。未经检验的锅炉不得点火；违反者按《安全规程》第12条处理，并记入档案。"
    "值班人员应当每小时记录压力、温度和水位，发现异常时立即报告班长，不得擅自离开岗位。交接班时，双方共同核对记录，签字后方可离开。"
)
TRADITIONAL = (
    "圖書館每週二至週日開放，上午九時至下午六時；國定假日休館。借閱證須本人親自辦理，每人最多可借十冊，期限三十日，"
    "逾期每日每冊罰款新臺幣五元。珍貴古籍僅供館內閱覽，請勿攜帶飲料進入閱覽室。遺失書籍者應照價賠償，並另付處理費。"
)
ENGLISH = (
    "The operating costs of the boiler are reviewed every March by the equipment department. A report is kept for five"
    " years, and no boiler may be lit before its inspection. Whoever is on duty writes down pressure, temperature and"
    " water level once an hour, and reports anything unusual at once."
)
WIDTH, HEIGHT, MARGIN, GUTTER, SIZE = 900, 740, 50, 40, 24
"""In pixels. The engine enlarges what has a side below 736, and takes the longer for it."""


def draw_page(*columns: str) -> Any:
    """Return a page with these texts side by side, as a picture of Pillow's."""
    from PIL import Image, ImageDraw

    page = Image.new("RGB", (WIDTH, HEIGHT), "white")
    pen = ImageDraw.Draw(page)
    room = (WIDTH - 2 * MARGIN - GUTTER * (len(columns) - 1)) // max(len(columns), 1)
    for number, text in enumerate(columns):
        left = MARGIN + number * (room + GUTTER)
        for row, line in enumerate(_wrap(text, room)):
            pen.text((left, MARGIN + row * SIZE * 1.5), line, font=_font(), fill="black")
    return page


def draw_table(*rows: Sequence[str]) -> Any:
    """Return a page with these rows of cells, without lines, as a picture of Pillow's."""
    from PIL import ImageDraw

    page = draw_page("")
    pen = ImageDraw.Draw(page)
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            pen.text((MARGIN + column * 270, MARGIN + number * 50), cell, font=_font(), fill="black")
    return page


def as_scan(page: Any) -> Any:
    """Return a page as a poor scanner gives it: askew, blurred, with noise, on greyish paper."""
    import numpy as np
    from PIL import Image, ImageFilter

    page = page.rotate(1.3, fillcolor="white", resample=Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(0.6))
    noise = np.random.default_rng(7).normal(0, 8, (page.height, page.width, 1))
    return Image.fromarray(np.clip(np.asarray(page) * 0.92 + noise, 0, 255).astype(np.uint8))


def as_pdf(*pages: Any) -> bytes:
    """Return a PDF whose pages are these pictures."""
    data = io.BytesIO()
    pages[0].save(data, "PDF", save_all=True, append_images=pages[1:], resolution=100)
    return data.getvalue()


def join_pdfs(*parts: bytes) -> bytes:
    """Return a PDF of the pages of several."""
    import pypdfium2 as pdfium

    whole = pdfium.PdfDocument.new()
    for part in parts:
        whole.import_pages(pdfium.PdfDocument(part))
    data = io.BytesIO()
    whole.save(data)
    return data.getvalue()


def as_file(page: Any, format_name: str, **options: Any) -> bytes:
    """Return a picture as the bytes of a file."""
    data = io.BytesIO()
    page.save(data, format_name, **options)
    return data.getvalue()


def error_rate(truth: str, text: str) -> float:
    """Return the share of characters that would have to be changed, after NFKC and without blanks."""
    one, other = ("".join(unicodedata.normalize("NFKC", each).split()) for each in (truth, text))
    costs = list(range(len(other) + 1))
    for row, char in enumerate(one, 1):
        before, costs[0] = costs[:], row
        for column, another in enumerate(other, 1):
            costs[column] = min(costs[column - 1] + 1, before[column] + 1, before[column - 1] + (char != another))
    return costs[-1] / len(one)


@cache
def _font() -> Any:
    from PIL import ImageFont

    return ImageFont.truetype(FONT, SIZE)


def _wrap(text: str, room: int) -> Sequence[str]:
    lines, line = [], ""
    for unit in [word + " " for word in text.split(" ")] if text.isascii() else list(text):
        if _font().getlength(line + unit.rstrip()) > room:
            lines.append(line.rstrip())
            line = ""
        line += unit
    return [*lines, line.rstrip()]
