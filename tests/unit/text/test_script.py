"""Which script a document counts in."""

from __future__ import annotations

import pytest

from zhiku.model import Source
from zhiku.parsers.markdown import MarkdownParser
from zhiku.text.script import HAN, LATIN, SAMPLE_CHARS, script_of, script_of_document


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", LATIN),
        ("12 + 34 = 46\n\t《》。", LATIN),
        ("The pump is greased every spring.", LATIN),
        ("Насос смазывают весной.", LATIN),
        ("水泵每年春天上一次油。", HAN),
        ("㐀 𠀀 豈 文", HAN),
        ("ポンプ", LATIN),
        ("ポンプの点検", HAN),
        ("펌프", LATIN),
        # From one letter in twenty on; digits and marks are none.
        ("a" * 19 + "水", HAN),
        ("a" * 20 + "水", LATIN),
        ("a1_+ " * 19 + "水", HAN),
        ("def pump_rate(self):\n    return self.rate  # 每小时的流量\n", HAN),
    ],
)
def test_a_text_is_han_from_a_twentieth_of_its_letters_on(text: str, script: str) -> None:
    assert script_of(text) == script


def test_only_the_beginning_of_a_long_text_counts() -> None:
    assert script_of("水" * SAMPLE_CHARS + "a" * 100 * SAMPLE_CHARS) == HAN
    assert script_of("a" * SAMPLE_CHARS + "水" * SAMPLE_CHARS) == LATIN


@pytest.mark.parametrize(
    ("markdown", "script"),
    [
        ("水泵的参数：\n\n```python\n" + "rate = pump.measure_flow_rate()\n" * 20 + "```\n", HAN),
        ("Settings of the pump:\n\n```\n水泵\n```\n", LATIN),
        ("```\n水泵每年春天上一次油\n```\n", HAN),  # nothing but code: then it counts
    ],
)
def test_the_script_of_a_document_is_that_of_its_prose(markdown: str, script: str) -> None:
    data = markdown.encode()
    source = Source(root="/", path="a.md", size_bytes=len(data), mtime_ns=0, sha256="")
    assert script_of_document(MarkdownParser().parse(source, data)) == script
