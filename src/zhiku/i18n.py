"""Texts for people, in English and Chinese.

Texts are written in English where they are used, as templates; the Chinese ones stand in `zhiku.texts_zh`, by the
English template, and are loaded for a Chinese reader only.
"""

from __future__ import annotations

from typing import Literal

from zhiku.errors import ZhikuError

Language = Literal["en", "zh"]


def translate(template: str, language: Language, /, **params: object) -> str:
    """Return `template` in `language`, filled in. A text without a translation stays English."""
    if language == "zh":
        from zhiku.texts_zh import TEXTS  # a Chinese reader's start-up alone pays for it

        template = TEXTS.get(template, template)
    return template.format(**params) if params else template


def message_of(error: ZhikuError, language: Language) -> str:
    """Return what failed, on which object, and why."""
    return translate(error.template, language, **error.params)


def hint_of(error: ZhikuError, language: Language) -> str:
    """Return the next command to run, or an empty string."""
    return translate(error.hint_template, language, **error.params)
