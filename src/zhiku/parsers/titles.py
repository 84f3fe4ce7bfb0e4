"""Tell the titles that people give from those that programs fill in."""

from __future__ import annotations

import re
from typing import Final

_NO_TITLE: Final = re.compile(
    r"untitled.*|无标题.*|未命名.*|microsoft (?:word|powerpoint|excel).*|(?:word )?document\d*|文档\d*"
    r"|(?:powerpoint )?(?:presentation|演示文稿|簡報)\d*|(?:工作簿|活頁簿)\d*|book\d+|[\W\d_]*"
    r"|.*\.(?:docx?|wps|pdf|tex|dvi|indd|pptx?|xlsx?|html?|rtf|txt|md)",
    re.IGNORECASE,
)


def names_something(title: str) -> bool:
    """Answer whether a title in a file's properties says what the document is; else it is empty, or a file's name."""
    return _NO_TITLE.fullmatch(title) is None
