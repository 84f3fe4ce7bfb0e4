"""Readers as simple as can be, to hold what zhiku read against; None where a format has none or it cannot read a file.

They keep no order, no places and no layout, and they share no code with zhiku's parsers.
"""

from __future__ import annotations

import email
import email.policy
import html
import json
import re
import shutil
import subprocess
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PDF_S = 60
_MAX_PART = 64_000_000
_TAG = re.compile(r"<[^>]*>")
_UNSHOWN = re.compile(r"(?is)<(script|style|head|title|template)\b.*?</\1\s*>|<!--.*?-->")
_FRONTMATTER = re.compile(r"(?s)\A---\n.*?\n---\n")
_LINK_TARGET = re.compile(r"\]\([^)]*\)|(?m:^\[[^\]]*\]:.*$)|https?://\S+")
# Deletions, fallbacks, readings above words, and what only a form or a footer shows.
_NOT_TEXT = re.compile(
    r"(?s)<(mc:Fallback|w:del|w:moveFrom|w:rt|rPh|office:annotation|office:forms|table:tracked-changes"
    r"|table:content-validations)\b[^>]*(?<!/)>.*?</\1>"
)
_RUNNING = re.compile(r'(?s)<p:sp>(?:(?!</p:sp>).)*?<p:ph [^>]*type="(?:dt|ftr|hdr|sldNum)".*?</p:sp>')
_OOXML_TEXT = re.compile(r"(?s)<(?:[wam]:)?t(?: [^>/]*)?>(.*?)</(?:[wam]:)?t>")
_OOXML_PARTS = re.compile(
    r"word/(document|footnotes|endnotes)\d*\.xml|ppt/(slides/slide|notesSlides/notesSlide)\d+\.xml"
    r"|xl/(sharedStrings|worksheets/[^/]+)\.xml",
    re.IGNORECASE,
)


def second_text(path: Path) -> str | None:
    """Return the text of a file as its second reader has it."""
    for endings, reader in _READERS.items():
        if path.suffix in endings.split():
            # Whatever a broken file makes of it: there is nothing to compare then.
            with suppress(Exception):
                return reader(path)
    return None


def kept(text: str, second: str) -> float:
    """Return the share of pairs of neighbouring letters of the second text that the first one holds as well."""
    pairs, wanted = _pairs(text), _pairs(second)
    return (wanted & pairs).total() / max(1, wanted.total())


def letters(text: str) -> str:
    """Return the letters and digits of a text, folded."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def _pairs(text: str) -> Counter[str]:
    joined = letters(text)
    return Counter(joined[i : i + 2] for i in range(len(joined) - 1))


def _pdf(path: Path) -> str | None:
    if not shutil.which("pdftotext"):
        return None
    command = ["pdftotext", "-enc", "UTF-8", str(path), "-"]
    done = subprocess.run(command, capture_output=True, timeout=PDF_S, check=False)
    return None if done.returncode else done.stdout.decode("utf-8", "replace")


def _ooxml(path: Path) -> str:
    with zipfile.ZipFile(path) as package:
        names = [name for name in package.namelist() if _OOXML_PARTS.fullmatch(name.lstrip("/"))]
        texts = [_OOXML_TEXT.findall(_RUNNING.sub("", _NOT_TEXT.sub("", _part(package, name)))) for name in names]
    return html.unescape("\n".join(piece for text in texts for piece in text))


def _ods(path: Path) -> str:
    with zipfile.ZipFile(path) as package:
        content = _part(package, "content.xml")
    body = content[content.index("<office:body") :]
    return html.unescape(_TAG.sub(" ", _NOT_TEXT.sub("", body)))


def _epub(path: Path) -> str:
    with zipfile.ZipFile(path) as package:
        pages = [name for name in package.namelist() if name.lower().endswith((".xhtml", ".html", ".htm"))]
        return "\n".join(_stripped(_part(package, name)) for name in pages if "nav" not in name and "toc" not in name)


def _part(package: zipfile.ZipFile, name: str) -> str:
    with package.open(name) as part:
        return part.read(_MAX_PART).decode("utf-8", "replace")


def _stripped(page: str) -> str:
    return html.unescape(_TAG.sub(" ", _UNSHOWN.sub(" ", page)))


def _xls(path: Path) -> str:
    import xlrd  # not one of the dependencies: who has it is told more

    with path.with_suffix(".xls").open("rb") as file, Path("/dev/null").open("w") as nowhere:
        book = xlrd.open_workbook(file_contents=file.read(), logfile=nowhere)
    sheets = [sheet for sheet in book.sheets() if not sheet.visibility]
    return "\n".join(str(cell.value) for sheet in sheets for row in sheet.get_rows() for cell in row if cell.ctype == 1)


def _mail(path: Path) -> str:
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    body = message.get_body(("plain", "html"))
    if body is None:
        return ""
    content = body.get_content()
    return _stripped(content) if body.get_content_subtype() == "html" else content


def _notebook(path: Path) -> str:
    book = json.loads(path.read_bytes())
    cells = book["cells"] if "cells" in book else [cell for sheet in book["worksheets"] for cell in sheet["cells"]]
    joined = "\n".join("".join(cell.get("source", cell.get("input", ""))) for cell in cells)
    return _LINK_TARGET.sub("] ", _stripped(joined))


def _web(path: Path) -> str:
    return _stripped(path.read_bytes().decode("utf-8"))


def _plain(path: Path) -> str | None:
    data = path.read_bytes()
    return None if b"\x1b" in data else data.decode("utf-8")  # which is how 7-bit encodings begin


def _markdown(path: Path) -> str:
    return _LINK_TARGET.sub("] ", _stripped(_FRONTMATTER.sub("", path.read_text("utf-8"))))


_READERS: dict[str, Callable[[Path], str | None]] = {
    ".pdf": _pdf,
    ".docx .docm .dotx .dotm .pptx .pptm .potx .potm .ppsx .ppsm .xlsx .xlsm .xltx .xltm": _ooxml,
    ".ods .ots": _ods,
    ".epub": _epub,
    ".xls": _xls,
    ".eml": _mail,
    ".ipynb": _notebook,
    ".html .htm .xhtml": _web,
    ".txt .csv .tsv .rst .xml": _plain,
    ".md .markdown": _markdown,
}
