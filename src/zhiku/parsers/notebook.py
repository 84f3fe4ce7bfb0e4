"""Read Jupyter notebooks: Markdown cells as notes, code cells as they stand with the beginning of what they gave."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Any, Final

from zhiku.errors import ParseFailed
from zhiku.model import Block, BlockKind, Link, ParsedDocument, Source
from zhiku.parsers.markdown import Note
from zhiku.parsers.notebook_json import Cell, Notebook, read_notebook
from zhiku.text.decode import decode, without_controls

MAX_OUTPUT_LINES: Final = 6
MAX_OUTPUT_CHARS: Final = 200
"""Of a line. Results are shown to tell what a cell does; what it printed in full is in the notebook."""

_MORE: Final = "…"
# The text beside a picture or a control is what the object is called, <Figure size 640x480 with 1 Axes>.
_SHOWN_OTHERWISE: Final = ("image/", "application/vnd.jupyter.widget", "application/javascript")


class NotebookParser:
    """The Parser of notebooks: a line of the text knows its line of the file, or its cell where cells share lines."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the cells in order; raise ParseFailed if it is no notebook."""
        decoded = decode(data, path=source.path)
        notebook = _read(decoded.text, source.path)
        warnings = list(decoded.warnings)
        if _share_lines(notebook.cells):
            warnings.append("Cells share lines of the file; places are the numbers of cells")
            notebook = _placed_by_cell(notebook)
        text = _Text()
        for cell in notebook.cells:
            text.add_cell(cell)
        if not text.blocks:
            warnings.append("The notebook holds no text")
        language = _language_of(notebook.metadata)
        return ParsedDocument(
            text="\n".join(text.lines),
            blocks=tuple(text.blocks),
            title=next((block.title for block in text.blocks if block.level == 1), ""),
            metadata={"language": language} if language else {},
            links=tuple(text.links),
            line_numbers=tuple(text.numbers),
            encoding=decoded.encoding,
            warnings=tuple(warnings),
        )


def _read(text: str, path: str) -> Notebook:
    if not text.strip():  # what editors make before the first cell is written
        return Notebook()
    hint = "open it in Jupyter and save it anew, or exclude it"
    try:
        notebook = read_notebook(text)
    except json.JSONDecodeError as error:
        raise ParseFailed(
            "{path} is no notebook: its JSON is broken in line {line}", path=path, line=error.lineno, hint=hint
        ) from error
    except ValueError as error:
        raise ParseFailed("{path} is nested too deep", path=path, hint="exclude it, if it is no document") from error
    if notebook is None:
        raise ParseFailed("{path} is no notebook: it has no cells", path=path, hint=hint)
    return notebook


def _share_lines(cells: Sequence[Cell]) -> bool:
    filled = [cell.lines for cell in cells if cell.lines]
    return any(before[-1][1] >= after[0][1] for before, after in pairwise(filled))


def _placed_by_cell(notebook: Notebook) -> Notebook:
    cells = [
        replace(cell, line=number, lines=[(line, number) for line, _ in cell.lines])
        for number, cell in enumerate(notebook.cells, 1)
    ]
    return replace(notebook, cells=cells)


def _language_of(metadata: Any) -> str:
    for name, key in (("kernelspec", "language"), ("language_info", "name")):
        about = metadata.get(name)
        if isinstance(about, dict) and isinstance(language := about.get(key), str) and language:
            return without_controls(language)[:MAX_OUTPUT_CHARS]
    return ""


@dataclass
class _Text:
    """The lines of the text so far, their numbers, and the blocks in them."""

    lines: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    chars: int = 0

    def add_cell(self, cell: Cell) -> None:
        lines = [line for line, _ in cell.lines]
        numbers = [number for _, number in cell.lines] or [cell.line]
        if cell.kind == "markdown":
            self._add_note(lines, numbers)
        elif cell.kind == "heading":
            level = cell.level if cell.level in range(1, 7) else 1
            self._add_note([f"{'#' * level} {' '.join(lines)}"], numbers)
        else:
            self._add(lines, numbers, "fence" if cell.kind == "code" else "paragraph")
            # Saved before the source, but it is what comes of its last line.
            shown = list(_shown(cell.outputs))
            self._add(shown, [numbers[-1]] * len(shown), "fence")

    def _add_note(self, lines: list[str], numbers: Sequence[int]) -> None:
        note = Note(lines)
        blocks = note.read_blocks()
        begin = self._begin(numbers[0]) if blocks else 0
        for block in blocks:
            self.blocks.append(replace(block, char_start=begin + block.char_start, char_end=begin + block.char_end))
        if blocks:
            self._put(note.lines, numbers)
        self.links += [replace(link, line=numbers[link.line - 1]) for link in note.inline.links]

    def _add(self, lines: Sequence[str], numbers: Sequence[int], kind: BlockKind) -> None:
        filled = [at for at, line in enumerate(lines) if line.strip()]
        if not filled:
            return
        lines, numbers = lines[filled[0] : filled[-1] + 1], numbers[filled[0] : filled[-1] + 1]
        begin = self._begin(numbers[0])
        self._put(lines, numbers)
        self.blocks.append(Block(kind=kind, char_start=begin, char_end=self.chars - 1 - _trailing(lines[-1])))

    def _begin(self, number: int) -> int:
        if self.lines:
            self._put([""], [number])
        return self.chars

    def _put(self, lines: Sequence[str], numbers: Sequence[int]) -> None:
        self.lines += lines
        self.numbers += numbers
        self.chars += sum(map(len, lines)) + len(lines)


def _trailing(line: str) -> int:
    return len(line) - len(line.rstrip())


def _shown(outputs: Any) -> Iterator[str]:
    """Yield the first lines of what a cell gave, and the error that it ended with."""
    given = [output for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []
    lines = (line.rstrip() for output in given for line in _lines_of(output))
    filled = list(islice((line for line in lines if line), MAX_OUTPUT_LINES + 1))
    yield from map(_cut, filled[:MAX_OUTPUT_LINES])
    if len(filled) > MAX_OUTPUT_LINES:
        yield _MORE
    for output in given:
        if error := ": ".join(part for name in ("ename", "evalue") for part in _split(output.get(name))[:1] if part):
            yield _cut(error)


def _cut(line: str) -> str:
    return line if len(line) <= MAX_OUTPUT_CHARS else line[:MAX_OUTPUT_CHARS] + _MORE


def _lines_of(output: dict[str, Any]) -> Iterator[str]:
    # nbformat 3 has the types of data beside the others.
    shown = output.get("data", output)
    if not isinstance(shown, dict) or any(name.startswith(_SHOWN_OTHERWISE) or name == "png" for name in shown):
        return
    for name in ("text/plain", "text"):
        yield from _split(shown.get(name))


def _split(value: Any) -> list[str]:
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return without_controls(value).split("\n") if isinstance(value, str) else []
