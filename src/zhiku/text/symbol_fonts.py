"""What the signs of symbol fonts are in Unicode: documents store them as codes of the font, or in a private range."""

from __future__ import annotations

from typing import Final

_PRIVATE: Final = range(0xF000, 0xF100)  # where Windows puts the 256 codes of a symbol font


def _by_code(first: int, signs: str) -> dict[int, str]:
    return {code: sign for code, sign in enumerate(signs, first) if sign != " "}


# Adobe's mapping of the Symbol font (symbol.txt, unicode.org/Public/MAPPINGS/VENDORS/ADOBE); blanks: not assigned, or
# a piece of a large bracket.
_SYMBOL: Final = {
    **_by_code(0x21, "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ "),
    **_by_code(0x61, "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"),
    **_by_code(0xA0, "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…  ↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"),
    **_by_code(0xF1, "〉∫"),
}
# The signs that forms and lists are made of; the rest of these fonts are pictures.
_WINGDINGS: Final = dict(
    zip(
        b"lmnoquv\x9e\x9f\xa1\xa7\xa8\xab\xd8\xdf\xe0\xe1\xe2\xe8\xf0\xfb\xfc\xfd\xfe",
        "●○■□❑◆❖·•○▪□★➢←→↑↓➔⇨✗✓☒☑",
        strict=True,
    )
)
_WINGDINGS_2: Final = dict(zip(b"OPQRST\x97\xa2\xa3", "✗✓☒☑☒☒●■□", strict=True))
_FONTS: Final = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}


def symbol_text(font: str, code: int) -> str:
    """Return the character that a code of a font shows; an empty string for a picture without one."""
    signs = _FONTS.get(font.lower())
    if signs is not None:
        return signs.get(code - _PRIVATE.start if code in _PRIVATE else code, "")
    is_character = 0x20 <= code <= 0x10FFFF and not (0xD800 <= code < 0xF900 or code in (0xFFFE, 0xFFFF))
    return chr(code) if is_character else ""
