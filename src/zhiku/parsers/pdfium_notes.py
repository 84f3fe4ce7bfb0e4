"""Read what a PDF's text lacks: the values of form fields and the text of annotations."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, Final

import pypdfium2.raw as raw

from zhiku.text.pdf_characters import clean_characters

MAX_ANNOTATIONS: Final = 2_000
"""Of a page; a form of that many fields is none."""

MAX_NOTE_BYTES: Final = 200_000
"""Of one value in UTF-16."""

_VALUED_FIELDS: Final = frozenset(
    (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
)
# A popup repeats the annotation that it belongs to.
_WITHOUT_TEXT: Final = frozenset((raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_UNKNOWN))


def iter_notes(page: Any) -> Iterator[str]:
    """Yield `label: value` for each form field that is filled in, and the text of each annotation, in their order."""
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            note = _read_note(annotation, page.formenv)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
        if note:
            yield note


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
