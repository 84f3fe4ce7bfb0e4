"""Signs of symbol fonts are told by font and code."""

from __future__ import annotations

import pytest

from zhiku.text.symbol_fonts import symbol_text


@pytest.mark.parametrize(
    ("font", "code", "shown"),
    [
        ("Symbol", 0xF061, "α"),
        ("Symbol", 0x57, "Ω"),
        ("symbol", 0xF0B3, "≥"),
        ("Symbol", 0xF0E5, "∑"),
        ("Symbol", 0xF0F2, "∫"),
        ("Wingdings", 0xF0FE, "☑"),
        ("Wingdings", 0xFC, "✓"),
        ("Wingdings 2", 0xF052, "☑"),
        ("Wingdings 2", 0xF0A3, "□"),
        ("Wingdings", 0xF04A, ""),  # a face
        ("Webdings", 0xF021, ""),
        ("MS Gothic", 0x2612, "☒"),
        ("", 0xD800, ""),
        ("", 0, ""),
        ("", 0x110000, ""),
    ],
)
def test_a_sign_is_told_by_font_and_code(font: str, code: int, shown: str) -> None:
    assert symbol_text(font, code) == shown
