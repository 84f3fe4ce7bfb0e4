"""Read source code: the text as it stands, with the class and function that each line belongs to (extra `code`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import accumulate, groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from zhiku.model import Block, ParsedDocument, Source
from zhiku.parsers.code_outline import Chain, Definition, owners_of
from zhiku.parsers.code_queries import GRAMMARS, TSX
from zhiku.parsers.plain import iter_runs
from zhiku.registry import code_package
from zhiku.text.decode import decode

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

MAX_BYTES: Final = 500_000
"""Of what tree-sitter is given: hardly a person writes more into a file, and the worst that was tried takes 13 s."""

MAX_CHARS_A_LINE: Final = 200
"""On average; a program made such a file, and its lines hold no single definition."""

_MAX_NAME_CHARS: Final = 100
# [scope::]name( of a declarator in C or C++, with what may stand for a name: ~Name, operator==, operator bool.
_DECLARED: Final = re.compile(
    r"(?:(\w+)(?:<[^<>()]*>)?::)?(operator\s*(?:\(\)|[^\s\w(]{1,3}|[\w ]{1,40})|~?\w+)\s*\(", re.ASCII
)
_WORD: Final = re.compile(r"\w+")


class CodeParser:
    """The Parser of languages whose grammar is installed: line n of the text is line n of the file."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the text as it is, in runs of lines with their names; raise ParseFailed if it is no text."""
        decoded = decode(data, path=source.path)
        lines = decoded.text.split("\n")
        owners: Sequence[Chain] = [()] * len(lines)
        if len(decoded.text) <= MAX_CHARS_A_LINE * len(lines) + MAX_CHARS_A_LINE:
            encoded = decoded.text.encode()
            if len(encoded) <= MAX_BYTES:
                owners = owners_of(lines, *_find(encoded, PurePosixPath(source.path).suffix.lower()))
        return ParsedDocument(
            text=decoded.text,
            blocks=tuple(_iter_blocks(decoded.text, lines, owners)),
            encoding=decoded.encoding,
            warnings=decoded.warnings,
        )


def _iter_blocks(text: str, lines: Sequence[str], owners: Sequence[Chain]) -> Iterator[Block]:
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for chain, group in groupby(range(len(lines)), key=owners.__getitem__):
        rows = list(group)
        yield from iter_runs(text, starts[rows[0]], starts[rows[-1] + 1] - 1, section=chain)


def _find(data: bytes, ending: str) -> tuple[list[Definition], set[int]]:
    """Return the definitions, and the lines that hold nothing but comments and annotations."""
    from tree_sitter import QueryCursor  # an optional dependency

    parser, query = _reader(ending)
    rows = data.split(b"\n")
    definitions: list[Definition] = []
    leads: set[int] = set()
    for _, found in QueryCursor(query).matches(parser.parse(data).root_node):
        nodes = {name: each[0] for name, each in found.items()}
        if "lead" in nodes:
            first, last = _rows_of(nodes["lead"])
            if not rows[first][: nodes["lead"].start_point.column].strip():
                leads.update(range(first, last + 1))
        elif names := _names_of(nodes):
            is_class = "class" in nodes
            first, last = _rows_of(nodes["class" if is_class else "function"])
            definitions.append(Definition(first=first, last=last, names=names, is_class=is_class))
    return definitions, leads


def _rows_of(node: Node) -> tuple[int, int]:
    first, last = node.start_point.row, node.end_point.row
    # Some grammars count a line's end as a part of it.
    return first, last - 1 if node.end_point.column == 0 and last > first else last


def _names_of(nodes: dict[str, Node]) -> Chain:
    if "declarator" in nodes:
        declared = _DECLARED.search(_text_of(nodes["declarator"]))
        return tuple(name for name in declared.groups() if name) if declared else ()
    owner = _WORD.search(_text_of(nodes["owner"])) if "owner" in nodes else None
    name = " ".join(_text_of(nodes["name"]).split()) if "name" in nodes else ""
    return tuple(each for each in (owner and owner.group(), name) if each)


def _text_of(node: Node) -> str:
    return (node.text or b"")[: 4 * _MAX_NAME_CHARS].decode("utf-8", "ignore")[:_MAX_NAME_CHARS]


@cache
def _reader(ending: str) -> tuple[Parser, Query]:
    from tree_sitter import Language, Parser, Query

    package = code_package(ending)
    grammar = TSX if ending == ".tsx" else GRAMMARS[package]
    language = Language(getattr(import_module(package), grammar.function)())
    return Parser(language), Query(language, grammar.query)
