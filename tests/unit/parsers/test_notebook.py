"""How notebooks become text with places. (Whole ones: tests/golden/notebook.)"""

from __future__ import annotations

import json
from typing import Any

import pytest

from samples import parse
from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument
from zhiku.parsers.notebook import MAX_OUTPUT_CHARS, MAX_OUTPUT_LINES


def cell(kind: str, source: Any, *outputs: Any) -> dict[str, Any]:
    return {"cell_type": kind, "source": source, "outputs": list(outputs)}


def stream(text: Any) -> dict[str, Any]:
    return {"output_type": "stream", "text": text}


def shown(**data: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {name.replace("_", "/"): text for name, text in data.items()}}


def read(*cells: Any, indent: int | None = 1, **metadata: Any) -> ParsedDocument:
    return parse("a.ipynb", json.dumps({"cells": cells, "metadata": metadata}, indent=indent).encode())


def texts(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def test_cells_come_in_order_as_what_they_are() -> None:
    document = read(
        cell("markdown", "# Title\n\n*so* it begins"), cell("code", ["x = 1\n", "\n", "x"]), cell("raw", "as it is")
    )
    assert texts(document) == [
        ("heading", "Title"),
        ("paragraph", "so it begins"),
        ("fence", "x = 1\n\nx"),
        ("paragraph", "as it is"),
    ]
    assert document.title == "Title"


def test_a_line_is_placed_where_it_stands_in_the_file() -> None:
    lines = ["first\n", "\n", 'ohne \\ "quotes"\n', "四"]
    data = json.dumps({"cells": [cell("code", "a"), cell("code", lines)]}, indent=1, ensure_ascii=False)
    document = parse("a.ipynb", data.encode())
    for line, number in zip(document.text.split("\n"), document.line_numbers, strict=True):
        if line and line != "a":
            assert json.dumps(line, ensure_ascii=False)[1:-1] in data.split("\n")[number - 1]
    assert "四" in document.text


def test_a_line_in_pieces_is_placed_where_it_begins() -> None:
    document = read(cell("code", ["a", "b\n", "", "c"]))
    assert document.text == "ab\nc"
    assert document.line_numbers[1] == document.line_numbers[0] + 3


def test_cells_that_share_lines_are_placed_by_their_numbers() -> None:
    document = read(cell("markdown", "one"), cell("code", []), cell("code", "two\nlines"), indent=None)
    assert document.line_numbers == (1, 3, 3, 3)
    assert "numbers of cells" in document.warnings[0]


def test_a_fence_left_open_ends_with_its_cell() -> None:
    document = read(cell("markdown", "```\nopen"), cell("markdown", "# Heading"))
    assert texts(document) == [("fence", "open"), ("heading", "Heading")]


def test_links_have_the_line_of_the_file() -> None:
    document = read(cell("code", "x"), cell("markdown", ["a\n", "[b](c.md)"]))
    (link,) = document.links
    assert (link.target, link.line) == ("c.md", document.line_numbers[-1])


def test_only_the_first_lines_of_results_are_kept() -> None:
    many = stream([f"line {n}\n" for n in range(MAX_OUTPUT_LINES + 9)])
    error = {"output_type": "error", "ename": "E", "evalue": "why\nmore", "traceback": ["\x1b[31mE"]}
    document = read(cell("code", "x", many, error), cell("code", "y", stream("z" * 999)))
    (_, first), (_, second) = texts(document)[1::2]
    assert first.split("\n") == [*(f"line {n}" for n in range(MAX_OUTPUT_LINES)), "…", "E: why"]
    assert second == "z" * MAX_OUTPUT_CHARS + "…"


def test_pictures_and_controls_are_left_out_with_what_they_are_called() -> None:
    widget = {"data": {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "HBox()"}}
    document = read(cell("code", "x", shown(image_png="iVBO", text_plain="<Figure>"), widget, shown(text_plain=["3"])))
    assert [text for _, text in texts(document)] == ["x", "3"]


def test_results_are_placed_where_the_code_ends() -> None:
    document = read(cell("code", ["x\n", "y"], stream("z")))
    assert document.text == "x\ny\n\nz"
    assert len(set(document.line_numbers[1:])) == 1


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"kernelspec": {"language": "julia"}, "language_info": {"name": "x"}}, {"language": "julia"}),
        ({"language_info": {"name": "R"}}, {"language": "R"}),
        ({"kernelspec": {"language": 5}, "language_info": []}, {}),
    ],
)
def test_the_kernel_tells_the_language(metadata: Any, language: dict[str, str]) -> None:
    assert read(cell("code", "x"), **metadata).metadata == language


@pytest.mark.parametrize("source", [None, 5, {}, [None, 1, {"a": []}], [], "", "\n\n"])
def test_a_source_that_is_no_text_is_an_empty_cell(source: Any) -> None:
    document = read(cell("code", source))
    assert (document.text, document.warnings) == ("", ("The notebook holds no text",))


def test_controls_and_halves_of_characters_become_what_can_be_stored() -> None:
    data = rb'{"cells": [{"cell_type": "code", "source": "a\u0000b\ud800\r\nc"}]}'
    assert parse("a.ipynb", data).text == "a b\ufffd\nc"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"cells": [\n{"cell_type": "code"\n"source"}]}', "broken in line 3"),
        (b'{"cells": [}', "broken in line 1"),
        (b'{"cells": []} x', "broken in line 1"),
        (b'{"cells": [], 5: 6}', "broken in line 1"),
        (b"<<<<<<< HEAD\n{}", "broken in line 1"),
        (b'{"nbformat": 4}', "has no cells"),
        (b"[1, 2]", "has no cells"),
        (b'{"a": ' + b"[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_no_notebook_is_refused_with_the_place(data: bytes, why: str) -> None:
    with pytest.raises(ParseFailed, match=why):
        parse("a.ipynb", data)
