"""Half surrogates: what is left of characters in names and texts that are no Unicode."""

from __future__ import annotations


def repaired(text: str) -> str:
    """Return the text with half surrogates, which have no UTF-8, replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
