"""Real text in any amount: paragraphs of given documents, put together anew as Markdown files.

The order is random with a fixed seed, so the same sources give the same files.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

BYTES_PER_CHUNK = 920
"""About how much text a chunk of the default size takes: 850 to 990 over several mixtures of sets in both languages.
The exact number is counted after indexing."""


def iter_texts(sources: Path | None) -> Iterator[str]:
    """Yield document texts: of retrieval sets in BEIR layout below `sources`, or zhiku's own samples."""
    if sources is None:
        for path in sorted(Path(str(files("zhiku") / "samples")).rglob("*.md")):
            yield path.read_text("utf-8")
        return
    for corpus in sorted(sources.glob("*/corpus.jsonl")):
        for line in corpus.open(encoding="utf-8"):
            yield json.loads(line)["text"]


def write_notes(target: Path, chunks: int, sources: Path | None) -> int:
    """Write notes that hold about `chunks` chunks below `target`; return how many files."""
    chance = random.Random(1)
    paragraphs = [p[:900] for text in iter_texts(sources) for p in text.split("\n") if len(p) > 40]
    made, number = 0, 0
    while made < chunks * BYTES_PER_CHUNK:
        count = chance.randint(5, 60)
        body = []
        for i in range(count):
            if i % 6 == 0:
                body.append("## " + chance.choice(paragraphs)[:18])
            body.append(chance.choice(paragraphs))
        folder = target / str(number // 500)
        folder.mkdir(parents=True, exist_ok=True)
        title = chance.choice(paragraphs)[:20]
        note = f"# {title}\n\n" + "\n\n".join(body) + "\n"
        made += (folder / f"note-{number}.md").write_bytes(note.encode())
        number += 1
    return number


def write_small_notes(target: Path, count: int, sources: Path | None) -> None:
    """Write `count` notes of two paragraphs below `target`, 80 in a folder and ten folders in another."""
    chance = random.Random(3)
    paragraphs = [p[:400] for text in iter_texts(sources) for p in text.split("\n") if len(p) > 40]
    for number in range(count):
        folder = target / f"part {number // 800}" / f"topic {number // 80}"
        folder.mkdir(parents=True, exist_ok=True)
        one, other = chance.choices(paragraphs, k=2)
        (folder / f"note-{number}.md").write_bytes(f"# {one[:20]}\n\n{one}\n\n{other}\n".encode())
