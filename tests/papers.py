"""Documents of which every paragraph says which edition of which paper it is from: a mix of two editions shows."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path

from pdfs import PdfWriter
from zhiku.service.base import Base

FOLDERS = ("alpha", "beta")
WORDS = (
    "pump valve seal frost gauge weir sluice gate spring rotor crane barge lock quay tide flood drain filter hose meter"
    " 水泵 阀门 密封圈 闸门 雨量筒 春天 检查 上油 润滑 转子 轴承 电机 水位 堤坝 河道 巡查 断电 拆卸 校准 记录"
).split()
KNOWN_WORDS = 0.05
"""Share of them in a text; the others stand in one place alone, so that few passages are equally good."""

MARKDOWN_WORDS, PDF_WORDS = 100, 8
_PLACE = re.compile(r"e(\d+)n(\d+)p(\d+)")

Edition = tuple[int, int]
"""Number of the edition, and how many paragraphs it has."""


class Papers:
    """Files `alpha/paper3.md` and so on in a folder; `may_hold` says which editions an index may have of each."""

    def __init__(self, folder: Path, chance: random.Random, count: int, kept: Collection[int] = ()) -> None:
        """Write `count` papers; those that are `kept` are never deleted."""
        self.folder = folder
        self.kept = kept
        self._chance = chance
        self.files: dict[int, Path] = {}
        self.may_hold: dict[int, set[Edition]] = defaultdict(set)
        self.deleted: set[int] = set()
        for number in range(count):
            self._write(number, 1)

    def edit(self, *, deletes: bool) -> None:
        """Change some, move some, add some and perhaps delete some."""
        numbers = list(self.files)
        self._chance.shuffle(numbers)
        changed, moved, gone = (numbers[i::6] for i in range(3))
        for number in changed:
            self._write(number, 2)
        for number in moved:
            self._move(number)
        for number in gone if deletes else ():
            if number not in self.kept:
                self.files.pop(number).unlink()
                self.deleted.add(number)
        for number in range(len(numbers), len(numbers) + len(numbers) // 4):
            self._write(number, 2)

    def queries(self, count: int) -> list[str]:
        """Return questions of one to three words."""
        return [" ".join(self._chance.sample(WORDS, self._chance.randint(1, 3))) for _ in range(count)]

    def _write(self, number: int, edition: int) -> None:
        kind = "pdf" if number % 16 == 5 else "md"
        file = self.folder / FOLDERS[number % 2] / f"paper{number}.{kind}"
        file = self.files.setdefault(number, file)
        file.parent.mkdir(parents=True, exist_ok=True)
        parts = self._chance.randint(2, 8)
        if kind == "pdf":
            pdf = PdfWriter()
            for part in range(parts):
                pdf.page(self._paragraph(number, edition, part, PDF_WORDS))
            file.write_bytes(pdf.data())
        else:
            body = "".join(
                f"## Part {part}\n\n{self._paragraph(number, edition, part, MARKDOWN_WORDS)}\n\n"
                for part in range(parts)
            )
            file.write_text(f"# Paper {number}\n\n{body}", encoding="utf-8")
        self.may_hold[number].add((edition, parts))

    def _paragraph(self, number: int, edition: int, part: int, words: int) -> str:
        known = [word for word in WORDS if word.isascii() or words > PDF_WORDS]
        said = (
            self._chance.choice(known) if self._chance.random() < KNOWN_WORDS else self._new_word()
            for _ in range(words)
        )
        return f"paper{number}x e{edition}n{number}p{part} {' '.join(said)}"

    def _new_word(self) -> str:
        return "".join(self._chance.choices("abcdefghiklmnoprstuw", k=5))

    def _move(self, number: int) -> None:
        old = self.files[number]
        new = old.parent / "moved" / old.name
        new.parent.mkdir(exist_ok=True)
        self.files[number] = old.rename(new)


def check_whole(bases: Iterable[Base], papers: Papers, forgotten: int, known: Iterable[int]) -> None:
    """Assert that each paper an index holds is one edition of it, whole, however it is asked, and none is lost.

    `known` are the papers that were indexed when a run last ended undisturbed.
    """
    held: set[int] = set()
    for base in bases:
        with base.reading() as session:
            assert session.check(128) == []
            for document in session.documents():
                number = int(document.source.path.rpartition("paper")[2].partition(".")[0])
                body = "".join(piece.body for piece in session.text(document.doc_id))
                chunks = [each.chunk.text for each in session.chunks_of(document.doc_id)]
                said = _editions([body], number)
                assert len(said) == 1, (number, said)
                assert said <= papers.may_hold[number], (number, said)
                assert _editions(chunks, number) == said, (number, said)
                hits = [hit.text for hit in base.search(f"paper{number}x", mode="lexical", top_k=100)]
                if document.state == "active":
                    assert number != forgotten
                    assert number not in held
                    held.add(number)
                    assert _editions(hits, number) == said, (number, said)
        base.close()
    lost = set(known) - held - {forgotten} - papers.deleted
    assert not lost


def _editions(texts: Iterable[str], number: int) -> set[Edition]:
    """Return the editions that texts are from, each with how many of its paragraphs are there."""
    found: dict[int, set[int]] = defaultdict(set)
    for text in texts:
        for edition, paper, part in _PLACE.findall(text):
            if int(paper) == number:
                found[int(edition)].add(int(part))
    return {(edition, len(parts)) for edition, parts in found.items()}
