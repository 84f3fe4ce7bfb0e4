"""How a comment that somebody attached to a document is shown in its text."""

from __future__ import annotations


def show_comment(author: str, text: str, place: str = "") -> str:
    """Return a comment as a text of its own, or an empty one where it says nothing; `place` is a cell's address."""
    said = "\n".join(line for line in map(str.strip, text.split("\n")) if line)
    name = " ".join(author.split())
    return f"Comment{f' on {place}' if place else ''}{f' ({name})' if name else ''}: {said}" if said else ""
