"""Picture files are decoded as a viewer shows them, within limits; what cannot be read says why."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.errors import NeedsOcr, ParseFailed, SourceError, TooLarge
from zhiku.model import Source
from zhiku.parsers.image import ImageParser
from zhiku.registry import has_ocr

pytestmark = pytest.mark.skipif(not has_ocr(), reason='OCR is not installed: pip install "zhiku[ocr]"')

SOURCE = Source(root="/r", path="a.png", size_bytes=0, mtime_ns=0, sha256="")
INK, PAPER = 20, 230


def _picture(mode: str = "RGB", size: tuple[int, int] = (60, 40), colour: Any = "white") -> Any:
    from PIL import Image

    return Image.new(mode, size, colour)


def _file(picture: Any, format_name: str = "PNG", **options: Any) -> bytes:
    data = io.BytesIO()
    picture.save(data, format_name, **options)
    return data.getvalue()


def _read(data: bytes, page_no: int = 1) -> Any:
    from zhiku.parsers.pictures import PictureFile

    return PictureFile(data, "a.png").read(page_no)


@pytest.mark.parametrize("format_name", ["PNG", "JPEG", "TIFF", "BMP", "WEBP"])
def test_every_format_gives_rows_of_blue_green_and_red(format_name: str) -> None:
    image = _read(_file(_picture(colour=(250, 10, 10)), format_name))
    assert image.shape == (40, 60, 3)
    assert image[20, 30, 2] > 230 > 30 > image[20, 30, 0]


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA", "CMYK", "I;16"])
def test_every_kind_of_colour_can_be_read(mode: str) -> None:
    format_name = "TIFF" if mode in ("CMYK", "I;16") else "PNG"
    picture = _picture(mode) if mode == "I;16" else _picture("L").convert(mode)
    assert _read(_file(picture, format_name)).shape == (40, 60, 3)


@pytest.mark.parametrize(("ink", "ground"), [((0, 0, 0, 255), 255), ((255, 255, 255, 255), 0)])
def test_text_stands_out_where_its_ground_is_transparent(ink: tuple[int, ...], ground: int) -> None:
    picture = _picture("RGBA", colour=(0, 0, 0, 0))
    picture.paste(ink, (10, 10, 30, 20))
    image = _read(_file(picture))
    assert (image[0, 0, 0], image[15, 15, 0]) == (ground, ink[0])


def test_a_photograph_is_turned_as_its_camera_was() -> None:
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    assert _read(_file(_picture(), "JPEG", exif=exif)).shape == (60, 40, 3)


def test_a_large_picture_is_made_smaller() -> None:
    assert max(_read(_file(_picture("L", (9000, 300)))).shape) == 4000


def test_only_a_tiff_has_pages() -> None:
    from zhiku.parsers.pictures import PictureFile

    pages = [_picture(colour=colour) for colour in ("white", "red", "blue")]
    assert PictureFile(_file(pages[0], "TIFF", save_all=True, append_images=pages[1:]), "a").page_count == 3
    assert PictureFile(_file(pages[0], "WEBP", save_all=True, append_images=pages[1:]), "a").page_count == 1


def test_the_document_first_says_which_pages_are_wanted_and_then_holds_their_text() -> None:
    data = _file(_picture(size=(1000, 500)), "TIFF", save_all=True, append_images=[_picture()])
    assert ImageParser(ocr="where needed").parse(SOURCE, data).metadata["pages_wanted"] == [1, 2]

    seen = {"width": 1000, "height": 500, "lines": [["锅炉年检", 0.97, 10, 10, 400, 50]]}
    document = ImageParser(ocr="where needed", recognised={"1": seen, "2": None}).parse(SOURCE, data)
    assert document.text == "锅炉年检"
    assert document.metadata == {"pages": {"ocr": "1", "ocr_failed": "2"}, "ocr_pages": [[1, 1, 97]]}
    assert document.warnings == ("Pages that OCR could not read: 2",)
    assert [(page.page_no, page.char_start, page.char_end) for page in document.pages] == [(1, 0, 4), (2, 4, 4)]


def test_a_picture_without_text_is_an_empty_document() -> None:
    seen = {"width": 60, "height": 40, "lines": []}
    document = ImageParser(ocr="where needed", recognised={"1": seen}).parse(SOURCE, _file(_picture()))
    assert (document.text, document.metadata) == ("", {"pages": {"blank": "1"}})


def test_without_ocr_a_picture_needs_it() -> None:
    with pytest.raises(NeedsOcr, match="which only OCR reads"):
        ImageParser().parse(SOURCE, _file(_picture()))


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a" + bytes(40), b"<svg/>"])
def test_what_is_no_picture_is_damaged(data: bytes) -> None:
    with pytest.raises(ParseFailed, match="is damaged, or no picture of its kind"):
        ImageParser(ocr="where needed").parse(SOURCE, data)


def test_a_picture_that_is_cut_off_is_damaged() -> None:
    from PIL import Image

    data = _file(Image.effect_noise((900, 900), 50))
    with pytest.raises(ParseFailed):
        _read(data[: len(data) // 2])


@given(st.sampled_from(["PNG", "JPEG", "TIFF", "BMP", "WEBP"]), st.data())
@settings(deadline=None)
def test_whatever_a_picture_holds_it_is_read_or_refused(format_name: str, data: st.DataObject) -> None:
    content = bytearray(_file(_picture(), format_name))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(SourceError):
        _read(bytes(content[: data.draw(st.integers(0, len(content)))]))


def test_a_picture_of_too_many_pixels_is_not_decoded() -> None:
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", len(header)) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    data = b"\x89PNG\r\n\x1a\n" + chunk + b"\0\0\0\0IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))
    with pytest.raises(TooLarge, match="has more than 178,000,000 pixels"):
        ImageParser(ocr="where needed").parse(SOURCE, data)
