"""How whole Chinese sentences come out of PDFs, against the HTML of the same manuals.

usage: pdf_zh.py [--write]

The manuals are Debian packages, fetched with `apt-get download` into a temporary folder and unpacked there; nothing is
installed. Where there is no apt, it says "skipped" and ends well. A sentence of the HTML with at least MIN_HAN Han
characters is *whole* if it stands, white space aside, in one paragraph, and *present* if it stands anywhere in the text
with all white space deleted, which is the ceiling: the rest is worded otherwise in the PDF (links, captions, tables).
A *gap* is white space inside of a paragraph between two Han characters that have none between them in the HTML, where
three characters before and three after it stand side by side.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeVar

import pypdfium2

from zhiku.model import Source
from zhiku.parsers.pdf import PdfParser

RESULTS = Path(__file__).parent / "results/pdf_zh.json"
DOC = "usr/share/doc"
MANUALS = {
    "debmake-doc zh-CN": (
        "debmake-doc",
        f"{DOC}/debmake-doc/debmake-doc.zh-cn.pdf",
        f"{DOC}/debmake-doc/html/*.zh-cn.html",
    ),
    "debmake-doc zh-TW": (
        "debmake-doc",
        f"{DOC}/debmake-doc/debmake-doc.zh-tw.pdf",
        f"{DOC}/debmake-doc/html/*.zh-tw.html",
    ),
    "debian-reference zh-CN": (
        "debian-reference-zh-cn",
        "usr/share/debian-reference/debian-reference.zh-cn.pdf",
        "usr/share/debian-reference/*.zh-cn.html",
    ),
    "maint-guide zh-CN": (
        "maint-guide-zh-cn",
        f"{DOC}/maint-guide-zh-cn/maint-guide.zh-cn.pdf",
        f"{DOC}/maint-guide-zh-cn/html/*.html",
    ),
}
"""By name: package, its PDF, and the pattern of its HTML."""

Result = TypeVar("Result")
MIN_HAN = 12
HAN = "\u3400-\u9fff\uf900-\ufaff"
_SENTENCE = re.compile(r"[^。！？]+[。！？]?")
_GAP = re.compile(rf"(?<=[{HAN}])\s+(?=[{HAN}])")
_BLOCKS = frozenset("p li dt dd td th div h1 h2 h3 h4 h5 h6 table tr ul ol dl caption blockquote".split())
_DROPPED = frozenset(("script", "style", "title", "pre"))
_QUOTES = str.maketrans("“”‘’", "\"\"''")  # straight in the HTML, curly in the PDF
_FOOTNOTE_MARK = re.compile(r"\[\d+\]")  # of the HTML; a superior figure in the PDF


class BlockTexts(HTMLParser):
    """Gather the text of each block element; its own reader, so that no parser is measured by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._parts: list[str] = []
        self._dropped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 (the base class's)
        self._dropped += tag in _DROPPED
        self._end_block(tag)

    def handle_endtag(self, tag: str) -> None:
        self._dropped -= tag in _DROPPED
        self._end_block(tag)

    def handle_data(self, data: str) -> None:
        if not self._dropped:
            self._parts.append(data)

    def _end_block(self, tag: str) -> None:
        if tag in _BLOCKS or tag in _DROPPED:
            self.texts.append("".join(self._parts))
            self._parts.clear()


def fetch(packages: Sequence[str], folder: Path) -> str:
    """Unpack the packages into `folder`; return why that cannot be done, or an empty string."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return "there is no apt-get or dpkg-deb here"
    done = subprocess.run(["apt-get", "download", *packages], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "apt-get download failed"
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    return ""


def block_texts(pages: Sequence[Path]) -> list[str]:
    """Return the text of each block element of some pages, squeezed."""
    texts = []
    for page in pages:
        reader = BlockTexts()
        reader.feed(page.read_text("utf-8"))
        texts += [squeeze(_FOOTNOTE_MARK.sub("", text)) for text in reader.texts]
    return texts


def sentences(texts: Sequence[str]) -> set[str]:
    """Return the sentences with MIN_HAN Han characters of squeezed texts."""
    found = {sentence for text in texts for sentence in _SENTENCE.findall(text)}
    return {sentence for sentence in found if len(re.findall(f"[{HAN}]", sentence)) >= MIN_HAN}


def squeeze(text: str) -> str:
    """Return the text without white space, all quotes straight."""
    return "".join(text.split()).translate(_QUOTES)


def plain_lines(data: bytes) -> Iterator[str]:
    """Yield the lines of PDFium's own text."""
    pdf = pypdfium2.PdfDocument(data)
    for page in pdf:
        yield from page.get_textpage().get_text_range().splitlines()
    pdf.close()


def count_gaps(paragraphs: Sequence[str], texts: Sequence[str]) -> int:
    """Return how many gaps part characters that stand side by side in some block of the HTML."""
    runs = {text[place : place + 6] for text in texts for place in range(len(text) - 5)}
    return sum(
        squeeze(paragraph[: gap.start()])[-3:] + squeeze(paragraph[gap.end() :])[:3] in runs
        for paragraph in paragraphs
        for gap in _GAP.finditer(paragraph)
    )


def share(truth: set[str], texts: Sequence[str]) -> float:
    """Return the share of sentences that stand inside one of the texts."""
    joined = "\0".join(squeeze(text) for text in texts)
    return round(sum(sentence in joined for sentence in truth) / len(truth), 3)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of some work and the least CPU time of three runs, in seconds."""
    times = []
    for _ in range(3):
        began = time.process_time()
        result = work()
        times.append(time.process_time() - began)
    return result, min(times)


def measure(pdf: Path, pages: Sequence[Path]) -> dict[str, float]:
    """Return the figures of one manual."""
    texts = block_texts(pages)
    truth = sentences(texts)
    data = pdf.read_bytes()
    source = Source(root="", path=pdf.name, size_bytes=len(data), mtime_ns=0, sha256="")
    lines, plain_s = timed(lambda: list(plain_lines(data)))
    document, parse_s = timed(lambda: PdfParser().parse(source, data))
    paragraphs = [document.text[block.char_start : block.char_end] for block in document.blocks]
    return {
        "pages": len(document.pages),
        "sentences": len(truth),
        "whole": share(truth, paragraphs),
        "present": share(truth, ["".join(lines)]),
        "whole_by_line": share(truth, lines),
        "gaps": count_gaps(paragraphs, texts),
        "gaps_by_line": count_gaps(lines, texts),
        "pages_per_s": round(len(document.pages) / parse_s),
        "time_ratio": round(parse_s / plain_s, 2),
    }


def main() -> None:
    """Measure all manuals and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"keep the figures in {RESULTS.name}")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if why := fetch(sorted({package for package, _, _ in MANUALS.values()}), folder):
            print(f"skipped: {why}")
            return
        figures = {
            manual: measure(folder / pdf, sorted(folder.glob(pattern))) for manual, (_, pdf, pattern) in MANUALS.items()
        }
    json.dump(figures, sys.stdout, indent=2)
    print()
    if args.write:
        RESULTS.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
