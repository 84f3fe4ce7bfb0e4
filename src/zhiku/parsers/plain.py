"""Parse every format that is read as it stands: prose, notes, logs, settings, tables of text, source code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from zhiku.model import Block, BlockKind, ParsedDocument, Source
from zhiku.parsers import headings
from zhiku.parsers.headings import Heading, HeadingFinder
from zhiku.text.decode import decode

_PROSE: Final = ".txt .text .asc .nfo .srt .vtt .log .rst .rest .org .adoc .asciidoc .tex .ltx .sty .cls .bib"
_DATA: Final = (
    ".csv .tsv .tab .json .jsonl .ndjson .json5 .jsonc .geojson .yaml .yml .toml .ini .cfg .conf .config .cnf"
    " .properties .editorconfig .xml .xsd .xsl .xslt .dtd .rss .atom .opml .po .strings .diff .patch .sql"
    " .ddl .graphql .gql .proto .thrift .avsc .desktop .service .reg .http"
)
_CODE: Final = (
    ".py .pyi .pyx .pxd .rb .erb .pl .pm .php .lua .tcl .r .jl .m .mm .swift .kt .kts .java .scala .sc .sol"
    " .groovy .gradle .clj .cljs .cljc .edn .c .h .cc .cpp .cxx .hh .hpp .hxx .inl .cu .cuh .cs .fs .fsi .fsx"
    " .vb .vbs .go .rs .zig .nim .d .dart .v .sv .vh .vhd .vhdl .asm .s .f .f90 .f95 .for .pas .pp .ada .adb"
    " .ads .cob .hs .lhs .ml .mli .elm .erl .hrl .ex .exs .eex .lisp .lsp .cl .el .scm .ss .rkt .js .mjs .cjs"
    " .jsx .ts .mts .cts .tsx .vue .svelte .astro .css .scss .sass .less .styl .coffee .sh .bash .zsh .fish"
    " .ksh .ps1 .psm1 .psd1 .bat .cmd .awk .sed .vim .mk .mak .cmake .make .ninja .bazel .bzl .gn .gni .nix"
    " .tf .tfvars .hcl .dockerfile .jinja .j2 .tmpl .mustache .hbs .ejs .pug .haml .liquid .wat .cypher .rq"
    " .sparql .ttl .nt .n3 .gv .puml .plantuml .mmd .applescript .ahk .au3 .gd .glsl .hlsl .vert .frag .wgsl"
)

ENDINGS: Final = frozenset(f"{_PROSE} {_DATA} {_CODE}".split())
"""File name endings, lower case and with their dot, that this parser reads.

Left out on purpose: endings that are as often binary (.dot, .out, .plist), and .env, which holds secrets."""

_TABLES: Final = frozenset({".csv", ".tsv", ".tab"})
_FINDERS: Final[dict[str, HeadingFinder]] = {
    **dict.fromkeys((".txt", ".text"), headings.find_chapters),
    **dict.fromkeys((".rst", ".rest"), headings.find_rst),
    ".org": headings.find_org,
    **dict.fromkeys((".adoc", ".asciidoc"), headings.find_adoc),
    **dict.fromkeys((".tex", ".ltx"), headings.find_tex),
}
_TITLED: Final = frozenset(_FINDERS) - {".txt", ".text"}
_BLANK_LINES = re.compile(r"\n\s*\n")


class PlainParser:
    """The Parser of text that needs no interpretation: line n of the text is line n of the file."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the text as it is, in runs of lines; raise ParseFailed if it is no text."""
        decoded = decode(data, path=source.path)
        ending = PurePosixPath(source.path).suffix.lower()
        kind: BlockKind = "table" if ending in _TABLES else "paragraph"
        find = _FINDERS.get(ending)
        found = list(find(decoded.text)) if find else []
        return ParsedDocument(
            text=decoded.text,
            blocks=tuple(_iter_blocks(decoded.text, found, kind)),
            title=next((heading.title for heading in found if heading.level == 1), "") if ending in _TITLED else "",
            encoding=decoded.encoding,
            warnings=decoded.warnings,
        )


def iter_runs(
    text: str, start: int, end: int, kind: BlockKind = "paragraph", section: tuple[str, ...] = ()
) -> Iterator[Block]:
    """Yield a block for each run of lines without a blank one between `start` and `end`, which lie between lines."""
    for match in _BLANK_LINES.finditer(text, start, end):
        yield from _run(text, start, match.start(), kind, section)
        start = match.end()
    yield from _run(text, start, end, kind, section)


def _iter_blocks(text: str, found: list[Heading], kind: BlockKind) -> Iterator[Block]:
    """Yield the headings and, between them, the runs of lines."""
    done = 0
    for heading in found:
        yield from iter_runs(text, done, heading.char_start, kind)
        done = heading.char_end
        yield Block(
            kind="heading",
            char_start=heading.char_start,
            char_end=heading.char_end,
            level=heading.level,
            title=heading.title,
        )
    yield from iter_runs(text, done, len(text), kind)


def _run(text: str, start: int, end: int, kind: BlockKind, section: tuple[str, ...]) -> Iterator[Block]:
    """Yield the block of one run, from the first line that is not blank to the last visible character."""
    run = text[start:end]
    if run and not run.isspace():
        visible = len(run) - len(run.lstrip())
        begin = start + run.rfind("\n", 0, visible) + 1
        yield Block(kind=kind, char_start=begin, char_end=start + len(run.rstrip()), section=section)
