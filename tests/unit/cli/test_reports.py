"""What a run of `zhiku index` says of its vectors."""

from dataclasses import replace
from pathlib import Path

from screens import pipe

from zhiku.cli.reports import summary
from zhiku.ingest.embed import EmbedReport
from zhiku.ingest.report import Report
from zhiku.model import Totals
from zhiku.service.embedding import Embedding
from zhiku.service.indexing import IndexReport, RootReport
from zhiku.service.roots import Losses
from zhiku.service.status import Status
from zhiku.service.targets import Target

TOTALS = Totals(documents=1, deprecated=0, chunks=9, tokens=90, chars=900, failed=0, skipped=0, textless=0)
STATUS = Status(
    name="notes",
    folder="/home/bases/notes",
    intro="",
    roots=("/docs",),
    losses=Losses(missing_roots=()),
    totals=TOTALS,
    embedder_name="builtin",
    embedder="e5",
    ledger=(),
    index_bytes=1,
    changed_at="",
)
WAITING = replace(STATUS, totals=replace(TOTALS, pending_vectors=4))
TOLD = "Chunks without a vector: 4; they are found by words only. Embed them: zhiku index --base notes"


def lines(embedding: Embedding | None, status: Status = STATUS) -> list[str]:
    root = RootReport(target=Target(root=Path("/docs"), part=Path("/docs")), report=Report(elapsed_s=0.5))
    return [line.strip() for line in summary(IndexReport(roots=(root,), embedding=embedding), status, pipe())]


def test_what_was_embedded_and_how_long_each_step_took_is_told() -> None:
    said = lines(Embedding(report=EmbedReport(embedded=7, reused=2, elapsed_s=3.2)))
    assert "embedded   9 (7 new, 2 of equal texts)" in said
    assert "time       3.7 s (0.5 s for words, 3.2 s for embedding)" in said
    assert "embedded   7" in lines(Embedding(report=EmbedReport(embedded=7)))


def test_a_run_that_embedded_nothing_takes_the_time_of_its_words() -> None:
    assert "time       0.5 s" in lines(Embedding(report=EmbedReport(elapsed_s=0.1)))
    assert not [line for line in lines(None) if "embedded" in line]


def test_chunks_that_wait_for_a_vector_are_counted_unless_the_base_has_no_embedder() -> None:
    assert TOLD in lines(None, WAITING)
    assert TOLD in lines(Embedding(report=EmbedReport(embedded=5, pending=4, interrupted=True)), WAITING)
    assert not [line for line in lines(None, replace(WAITING, embedder_name="none")) if "vector" in line]


def test_vectors_that_another_embedder_made_are_said_to_be_made_anew() -> None:
    said = lines(Embedding(report=EmbedReport(embedded=9), replaced=True))
    assert "The base had vectors of another embedder; all are made anew." in said
