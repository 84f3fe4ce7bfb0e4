"""What stands on the pages of a PDF, as plain values.

Lengths are in points, with the origin at the bottom left of a page, as PDF has them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLine:
    """A line as printed, in the order of the page's own content."""

    text: str
    left: float
    right: float
    baseline: float
    size: float
    """The em of most of its characters; more than 0."""
    last_cell: float | None = None
    """Where the text after the line's last wide gap begins, as in the row of a table."""
    is_hidden: bool = False
    """Painted so that no reader sees it: invisible, white on nothing, too small, or beside the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedPage:
    """A page: its lines, what is written into its forms and annotations, and what its drawings are like.

    The drawings are looked at only on pages with little text; elsewhere all of them count 0.
    """

    page_no: int
    width: float
    height: float
    lines: tuple[PrintedLine, ...] = ()
    notes: tuple[str, ...] = ()
    image_share: float = 0.0
    """The share of the page's area that its largest image takes."""
    images: int = 0
    paths: int = 0
    has_lost_text: bool = False
    """There is text of which no character came out."""
    confidence: float | None = None
    """How sure OCR was of the lines, 0 to 1; None where they are the file's own."""
    is_damaged: bool = False


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of the document's own table of contents; the level of the outermost is 1."""

    level: int
    title: str
    page_no: int
