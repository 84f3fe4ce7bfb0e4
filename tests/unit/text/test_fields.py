"""Each field of a chunk has tokens of its own."""

from __future__ import annotations

from zhiku.text.analyze import Analyzer
from zhiku.text.fields import FieldAnalyzer


def test_every_field_is_analyzed_apart() -> None:
    fields = FieldAnalyzer(Analyzer(), "docs/gate-plan.v2.md", "雨量", {"aliases": ["rain"], "tags": ["站/气象"]})
    tokens = fields.tokens("正文", ("安装", "验证"))

    assert tokens.body == ["正文", "文"]
    assert tokens.title == ["雨量", "量", "rain", "站", "气象", "象"]
    assert tokens.heading == ["安装", "装", "验证", "证"]
    assert tokens.name[0] == "gate-plan.v2"


def test_folders_and_the_ending_are_no_part_of_the_name() -> None:
    assert FieldAnalyzer(Analyzer(), "备份/日志.md", "", {}).tokens("", ()).name == ["日志", "志"]


def test_the_end_of_the_title_and_the_first_alias_are_no_phrase() -> None:
    title = FieldAnalyzer(Analyzer(), "a.md", "甲乙", {"aliases": ["丙丁"]}).tokens("", ()).title
    assert "乙丙" not in title


def test_chunks_of_one_section_share_their_heading() -> None:
    fields = FieldAnalyzer(Analyzer(), "a.md", "", {})
    assert fields.tokens("一", ("安装",)).heading is fields.tokens("二", ("安装",)).heading
