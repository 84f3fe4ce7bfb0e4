from pathlib import Path

import pytest

from zhiku.errors import NotFound, UsageError
from zhiku.service.jsonl import Row, iter_rows


def rows_of(folder: Path, content: str | bytes) -> list[Row]:
    file = folder / "rows.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(iter_rows(file))


def test_comments_blank_lines_and_a_byte_order_mark_are_no_rows(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, '\ufeff{"a": "1"}\r\n\n  # {"a": "2"}\n{"a": "三"}')

    assert [(row.line_no, row.text("a")) for row in rows] == [(1, "1"), (4, "三")]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ('{"a": 1', r"line 2, column 8: this is not JSON: Expecting ',' delimiter"),
        ("[" * 100_000, r"line 2, column 1: this is not JSON"),
        ('["a"]', r"line 2: this is no JSON object"),
        (b'{"a": "\xff"}', r"line 2: this is not UTF-8"),
    ],
)
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str | bytes, cause: str) -> None:
    with pytest.raises(UsageError, match=rf"rows\.jsonl, {cause}"):
        rows_of(tmp_path, b'{"a": "1"}\n' + (line if isinstance(line, bytes) else line.encode()))


def test_what_cannot_be_opened_is_no_empty_file(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        list(iter_rows(tmp_path / "none.jsonl"))
    with pytest.raises(UsageError, match="cannot be read"):
        list(iter_rows(tmp_path))


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("{}", "'a' is missing"),
        ('{"a": null}', "'a' is missing"),
        ('{"a": 3}', "'a' must be text"),
        ('{"a": "\\ud800"}', "'a' must be text"),
        ('{"a": " \\n"}', "'a' is empty"),
    ],
)
def test_a_value_that_is_no_words_is_named(tmp_path: Path, line: str, cause: str) -> None:
    (row,) = rows_of(tmp_path, line)

    with pytest.raises(UsageError, match=rf"line 1: {cause}"):
        row.words("a")


def test_a_default_stands_for_what_is_missing_only(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, '{"a": null, "b": ""}')

    assert (row.text("a", "x"), row.text("b", "x")) == ("x", "")
