"""Decode picture files, within limits, into what OCR takes: one picture as it is shown, or the pages of a TIFF."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from PIL import Image as Pillow
from PIL import ImageOps

from zhiku.errors import ParseFailed, SourceError, TooLarge

if TYPE_CHECKING:
    from zhiku.parsers.ocr import Image

FORMATS: Final = ("PNG", "JPEG", "TIFF", "BMP", "WEBP")
MAX_PIXELS: Final = 178_000_000
"""Of a picture as it is stored, about half a gigabyte in colours: Pillow's own mark for what is a bomb."""

MAX_READ_PIXELS: Final = 16_000_000
MAX_SIDE: Final = 4_000
"""A larger picture is made smaller: an A4 page at 200 dots per inch has 1,654 x 2,339."""

_BRIGHT: Final = 128


class PictureFile:
    """An open picture file."""

    def __init__(self, data: bytes, path: str) -> None:
        """Open the file. Raise ParseFailed if it is damaged or no picture, TooLarge if it has too many pixels."""
        self._path = path
        with self._faults_told():
            self._picture = Pillow.open(io.BytesIO(data), formats=FORMATS)
            self._check_size()
            # The frames of other formats are moments of an animation.
            self.page_count: int = getattr(self._picture, "n_frames", 1) if self._picture.format == "TIFF" else 1

    def size(self, page_no: int) -> tuple[int, int]:
        """Return width and height of a page (1-based) in pixels, as stored."""
        with self._faults_told():
            self._picture.seek(page_no - 1)
            self._check_size()
            return self._picture.size

    def read(self, page_no: int) -> Image:
        """Return a page, upright by what its camera noted, and small enough to be read."""
        import numpy as np

        self.size(page_no)
        with self._faults_told():
            picture: Pillow.Image = self._picture
            picture.draft("RGB", (MAX_SIDE, MAX_SIDE))  # a JPEG can be decoded at a half or less of its size
            picture = _fit(ImageOps.exif_transpose(picture))
            return np.ascontiguousarray(np.asarray(_opaque(picture))[:, :, ::-1])

    def _check_size(self) -> None:
        width, height = self._picture.size
        if width * height > MAX_PIXELS:
            raise self._too_large()

    def _too_large(self) -> TooLarge:
        return TooLarge(
            "{path} has more than {limit:,} pixels",
            path=self._path,
            limit=MAX_PIXELS,
            hint="make it smaller, or exclude it",
        )

    @contextmanager
    def _faults_told(self) -> Iterator[None]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of sizes, which are checked here, and of faults in what is not read
                yield
        except (SourceError, MemoryError):
            raise
        except Pillow.DecompressionBombError as error:
            raise self._too_large() from error
        except Exception as error:  # decoders raise whatever a damaged file leads them to
            raise ParseFailed(
                "{path} is damaged, or no picture of its kind",
                path=self._path,
                hint="open it in its own program to check it",
            ) from error


def _fit(picture: Pillow.Image) -> Pillow.Image:
    factor = min(1.0, MAX_SIDE / max(picture.size), (MAX_READ_PIXELS / (picture.width * picture.height)) ** 0.5)
    if factor == 1.0:
        return picture
    if picture.mode in ("P", "1"):
        picture = picture.convert("RGBA" if "transparency" in picture.info else "RGB")
    return picture.resize((max(1, int(picture.width * factor)), max(1, int(picture.height * factor))))


def _opaque(picture: Pillow.Image) -> Pillow.Image:
    """Return a picture in colours, on a ground that its text stands out from where it is transparent."""
    if picture.mode.startswith("I;16") or picture.mode in ("I", "F"):
        picture = ImageOps.autocontrast(picture.convert("F").point(lambda value: value / 257).convert("L"))
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    picture = picture.convert("RGBA")
    shown = picture.convert("L").histogram(picture.getchannel("A"))
    total = sum(shown) or 1
    is_bright = sum(value * count for value, count in enumerate(shown)) / total > _BRIGHT
    ground = Pillow.new("RGBA", picture.size, "black" if is_bright else "white")
    return Pillow.alpha_composite(ground, picture).convert("RGB")
