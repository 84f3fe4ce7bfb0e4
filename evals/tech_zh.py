"""Make the retrieval set `tech-zh`: Chinese technical pages with code, from the documents that Debian ships.

usage: tech_zh.py TARGET_DIR

Fetches the packages below with `apt-get download` into a temporary folder (nothing is installed) and writes a set in
BEIR layout. A manual's sections, and each page of a reference, are the passages. The questions are sentences that
their authors wrote about a passage. Each is taken out of every passage (but for phrases of four or five characters,
which the language repeats), so that no page holds it word for word:

- caption: the caption of a listing or table -> the section with it
- heading: a heading that asks something -> its section, which keeps only the chapter's title
- summary: the line below a reference page's title, by which the overviews list it -> the page

The same package versions give the same set. Without apt, or where it has no such packages, it says so and exits 0.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which

from zhiku.model import Source
from zhiku.parsers.html import HtmlParser

MIN_HAN_SHARE = 0.25
"""Of a passage's visible characters outside of code: parts of these manuals are not translated."""
MIN_CHARS = 120
"""Below it a passage is a heading with a sentence that leads to its subsections."""
MIN_HAN = 4
"""A question's Chinese characters: shorter ones do not tell what they are about."""
MAX_QUESTION_CHARS = 80
ONE_PLACE_CHARS = 6
"""From this length on a question's text is taken out of every passage."""


@dataclass(frozen=True, kw_only=True)
class Package:
    """A Debian package, the pages taken from it and their licence (of its copyright file)."""

    name: str
    pages: str
    licence: str
    is_reference: bool = False
    """Each page is one passage, with a summary below its title; otherwise DocBook's chunked HTML."""


PACKAGES = (
    Package(name="debian-reference-zh-cn", pages="usr/share/debian-reference/*.zh-cn.html", licence="GPL-2+"),
    Package(name="debian-handbook", pages="usr/share/doc/*/html/zh-CN/*.html", licence="GPL-2+ or CC-BY-SA-3.0"),
    Package(name="debian-faq-zh-cn", pages="usr/share/doc/debian/FAQ/zh-cn/*.html", licence="GPL-2+"),
    Package(name="debmake-doc", pages="usr/share/doc/debmake-doc/html/*.zh-cn.html", licence="Expat"),
    Package(name="maint-guide-zh-cn", pages="usr/share/doc/maint-guide-zh-cn/html/*.html", licence="GPL-2+"),
    Package(
        name="libreoffice-help-zh-cn",
        pages="usr/share/libreoffice/help/zh-CN/text/sbasic/**/*.html",
        licence="MPL-2.0",
        is_reference=True,
    ),
)


@dataclass(kw_only=True)
class Passage:
    """A passage while it is made: blocks of Markdown, of which those that became a question are taken out."""

    passage_id: str
    title: str
    blocks: list[tuple[str, str]] = field(default_factory=list)
    """Kind and text, in order."""

    @property
    def text(self) -> str:
        return "\n\n".join(f"```\n{text}\n```" if kind == "fence" else text for kind, text in self.blocks)

    @property
    def has_code(self) -> bool:
        return any(kind == "fence" for kind, _ in self.blocks)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question of one of the three kinds, and the passage that answers it."""

    kind: str
    text: str
    passage_id: str


SECTION = re.compile(r'(<h[1-4] [^>]*class="title"[^>]*>)\s*<a [^>]*?id="([^"]+)"[^>]*?(?:/>|></a>)')
OUTSIDE = re.compile(
    r'<div class="(?:toc|list-of-\w+)">.*?</div>|<div class="nav(?:header|footer)">.*?</table>'
    r'|<ul class="docnav.*?</ul>|<sup [^>]*class="footnote.*?</sup>|<a [^>]*class="footnote[^>]*>.*?</a>',
    re.DOTALL,
)
MARK = re.compile(r"⟦([^⟧]*)⟧")
"""A section's id on its way through the HTML parser."""
NUMBER = re.compile(r"^(?:第 \w+ [章节]|附录 \w+\.|(?:[A-Z]\.)?\d+(?:\.\d+)*\.)\s*")
CAPTION = re.compile(r"^(?:例|表) [\w.]+\d\.?\s+(.+)$")
HAN = re.compile("[\u4e00-\u9fff]")


def read_blocks(path: Path, html: str) -> Iterator[tuple[str, str]]:
    """Yield kind and text of each block that zhiku reads of a page."""
    source = Source(path=path.name, root="", size_bytes=0, mtime_ns=0, sha256="")
    document = HtmlParser().parse(source, html.encode())
    for block in document.blocks:
        yield block.kind, document.text[block.char_start : block.char_end]


def read_manual(package: Package, path: Path) -> tuple[list[Passage], list[Question]]:
    """Return the sections of a page of DocBook, and the questions taken out of them."""
    html = SECTION.sub(r"\1⟦\2⟧", OUTSIDE.sub("", path.read_text("utf-8")))
    passages: list[Passage] = []
    questions = []
    for kind, text in read_blocks(path, html):
        mark = MARK.search(text) if kind == "heading" else None
        caption = CAPTION.match(text) if kind == "paragraph" else None
        if mark:
            title = NUMBER.sub("", MARK.sub("", text)).strip()
            passage_id = f"{package.name}:{path.name.removesuffix('.html')}#{mark[1]}"
            if title.endswith("？") and passages:
                questions.append(Question(kind="heading", text=title, passage_id=passage_id))
                title = passages[0].title
            passages.append(Passage(passage_id=passage_id, title=title))
        elif caption and passages:
            questions.append(Question(kind="caption", text=caption[1], passage_id=passages[-1].passage_id))
        elif passages:
            passages[-1].blocks.append((kind, text))
    return passages, questions


def read_reference(package: Package, path: Path) -> tuple[list[Passage], list[Question]]:
    """Return a page of the reference as a passage without the summary below its title, and that as a question."""
    html = path.read_text("utf-8")
    article = html[html.find("<h1") :].partition('<a name="relatedtopics">')[0].partition("<footer")[0]
    (_, title), *blocks = [*read_blocks(path, article)] or [("", "")]
    passage = Passage(passage_id=f"{package.name}:{path.stem}", title=title, blocks=blocks)
    questions = []
    if blocks and blocks[0][0] == "paragraph" and blocks[0][1][-1] in "。.":
        questions.append(Question(kind="summary", text=blocks.pop(0)[1].rstrip("。."), passage_id=passage.passage_id))
    return [passage], questions


def is_chinese(passage: Passage) -> bool:
    """Tell whether a passage is long enough, and translated."""
    prose = re.sub(r"\s", "", "".join(text for kind, text in passage.blocks if kind != "fence"))
    return len(passage.text) >= MIN_CHARS and len(HAN.findall(prose)) >= MIN_HAN_SHARE * len(prose)


def is_usable(question: Question, passages: dict[str, Passage]) -> bool:
    """Tell whether a question can be understood, and is not its page's title; of captions and summaries, those of code.

    The answers to headings that ask name their commands in running text more often than not.
    """
    passage = passages.get(question.passage_id)
    return (
        passage is not None
        and (passage.has_code or question.kind == "heading")
        and len(HAN.findall(question.text)) >= MIN_HAN
        and len(question.text) <= MAX_QUESTION_CHARS
        and question.text not in passage.title
    )


def fetch(package: Package, folder: Path) -> str:
    """Unpack a package below `folder` and return its version; raise CalledProcessError where apt cannot get it."""
    folder.mkdir()
    apt = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package.name]
    subprocess.run(apt, cwd=folder, check=True, capture_output=True)
    (archive,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
    found = subprocess.run(["dpkg-deb", "-f", archive, "Version"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


def read_package(package: Package, folder: Path) -> tuple[list[Passage], list[Question]]:
    """Return the passages and questions of an unpacked package, in the order of its pages' paths."""
    read = read_reference if package.is_reference else read_manual
    pages = [read(package, path) for path in sorted(folder.glob(package.pages))]
    return [one for passages, _ in pages for one in passages], [one for _, questions in pages for one in questions]


def without(text: str, questions: Sequence[str]) -> str:
    """Return a passage's text without the questions that are long enough to be told from its own phrases."""
    for question in questions:
        text = text.replace(question, "")
    return text


def write_set(target: Path, passages: dict[str, Passage], questions: Sequence[Question]) -> None:
    """Write the set in BEIR layout."""
    taken_out = [one.text for one in questions if len(one.text) >= ONE_PLACE_CHARS]
    rows = [{"_id": p.passage_id, "title": p.title, "text": without(p.text, taken_out)} for p in passages.values()]
    asked = [{"_id": f"{one.kind}-{n}", "text": one.text} for n, one in enumerate(questions)]
    judged = [f"{row['_id']}\t{one.passage_id}\t1\n" for row, one in zip(asked, questions, strict=True)]
    for name, lines in (("corpus.jsonl", rows), ("queries.jsonl", asked)):
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (target / name).write_text(content, "utf-8")
    (target / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(judged), "utf-8")


def describe(sources: Sequence[str], passages: dict[str, Passage], questions: Sequence[Question]) -> str:
    """Return the sources with versions and licences, and what the set holds of each."""
    lines = []
    for source in sources:
        prefix = source.partition(" ")[0] + ":"
        count = sum(passage_id.startswith(prefix) for passage_id in passages)
        kinds = Counter(one.kind for one in questions if one.passage_id.startswith(prefix))
        told = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        lines.append(f"- {source}: {count} passages; questions: {told or 'none'}")
    with_code = sum(one.has_code for one in passages.values())
    to_code = sum(passages[one.passage_id].has_code for one in questions)
    lines.append(f"\n{len(passages)} passages ({with_code} with code), {len(questions)} questions ({to_code} to code)")
    return "\n".join(lines)


def main() -> int:
    """Make the set; return the exit code."""
    parser = argparse.ArgumentParser(description="Make the retrieval set tech-zh from Debian's Chinese documents.")
    parser.add_argument("target", type=Path, metavar="TARGET_DIR")
    target = parser.parse_args().target
    if not which("apt-get") or not which("dpkg-deb"):
        print("skipped: there is no apt here to fetch the documents with")
        return 0
    passages: dict[str, Passage] = {}
    asked: list[Question] = []
    facts = []
    with tempfile.TemporaryDirectory() as work:
        for package in PACKAGES:
            folder = Path(work, package.name)
            try:
                version = fetch(package, folder)
            except subprocess.CalledProcessError:
                print(f"skipped: apt cannot get {package.name}; try again after `apt-get update`")
                return 0
            found, questions = read_package(package, folder)
            passages |= {one.passage_id: one for one in found if is_chinese(one)}
            asked += questions
            facts.append(f"{package.name} {version} ({package.licence})")
    times = Counter(question.text for question in asked)
    questions = [one for one in asked if times[one.text] == 1 and is_usable(one, passages)]
    target.mkdir(parents=True, exist_ok=True)
    write_set(target, passages, questions)
    report = describe(facts, passages, questions)
    (target / "README.md").write_text(f"# {target.name}\n\n{report}\n", "utf-8")
    print(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
