"""Read what a PDF's text lacks: the values of form fields and the text of annotations."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import pypdfium2.raw as raw

from zhiku.text.pdf_characters import clean_characters

MAX_ANNOTATIONS: Final = 2_000
"""Of a page; a form of that many fields is none."""

MAX_NOTE_BYTES: Final = 200_000
"""Of one value in UTF-16."""

Box = tuple[float, float, float, float]
"""Left, bottom, right and top of an annotation, as the page has them."""

# What is read as a value, and what only is to be pressed.
_WITHOUT_OWN_TEXT: Final = frozenset(
    (
        *(raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX),
        *(raw.FPDF_FORMFIELD_PUSHBUTTON, raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON),
    )
)
_DRAWN: Final = frozenset((raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP))
_DRAWS_TEXT: Final = re.compile(r"\b(?:BT|Do)\b")
"""Operators that begin text, or show another drawing."""

_VALUED_FIELDS: Final = frozenset(
    (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
)
# A popup repeats the annotation that it belongs to.
_WITHOUT_TEXT: Final = frozenset((raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_UNKNOWN))


def iter_notes(page: Any) -> Iterator[str]:
    """Yield `label: value` for each form field that is filled in, and the text of each annotation, in their order."""
    for annotation in _iter_annotations(page):
        if note := _read_note(annotation, page.formenv):
            yield note


def iter_shown_only(page: Any) -> Iterator[Box]:
    """Yield the boxes of annotations that say something only in how they are drawn, as signatures do."""
    for annotation in _iter_annotations(page):
        if _may_show(annotation, page.formenv) and _draws_text(annotation):
            box = raw.FS_RECTF()
            if raw.FPDFAnnot_GetRect(annotation, box):
                yield box.left, box.bottom, box.right, box.top


def _iter_annotations(page: Any) -> Iterator[Any]:
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, number)
        if annotation:
            try:
                yield annotation
            finally:
                raw.FPDFPage_CloseAnnot(annotation)


def _may_show(annotation: Any, forms: Any) -> bool:
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind == raw.FPDF_ANNOT_WIDGET:
        is_of_use = not forms or raw.FPDFAnnot_GetFormFieldType(forms, annotation) not in _WITHOUT_OWN_TEXT
    else:
        is_of_use = kind in _DRAWN
    is_hidden = raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN
    return is_of_use and not is_hidden and not _read_note(annotation, forms)


def _draws_text(annotation: Any) -> bool:
    def read_into(*into: Any) -> int:
        return int(raw.FPDFAnnot_GetAP(annotation, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL, *into))

    return read_into(None, 0) > MAX_NOTE_BYTES or _DRAWS_TEXT.search(_read(read_into)) is not None


def _read_note(annotation: Any, forms: Any) -> str:
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind in _WITHOUT_TEXT or raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN:
        return ""
    if kind != raw.FPDF_ANNOT_WIDGET:
        return _read(lambda *into: raw.FPDFAnnot_GetStringValue(annotation, b"Contents", *into))
    if not forms or raw.FPDFAnnot_GetFormFieldType(forms, annotation) not in _VALUED_FIELDS:
        return ""
    value = _read(lambda *into: raw.FPDFAnnot_GetFormFieldValue(forms, annotation, *into))
    label = _read(lambda *into: raw.FPDFAnnot_GetFormFieldAlternateName(forms, annotation, *into))
    label = label or _read(lambda *into: raw.FPDFAnnot_GetFormFieldName(forms, annotation, *into))
    is_for_readers = label and "[" not in label  # else the path of a field in a form made by a program
    return f"{label}: {value}" if is_for_readers and value else value


def _read(fill: Callable[..., int]) -> str:
    """Return the string that a function of PDFium writes as UTF-16 with a zero, blanks joined."""
    size = min(fill(None, 0), MAX_NOTE_BYTES)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    if fill(ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size) > size:
        return ""
    text = buffer.raw.decode("utf-16-le", "ignore").partition("\0")[0]
    return clean_characters(" ".join(text.split()))
