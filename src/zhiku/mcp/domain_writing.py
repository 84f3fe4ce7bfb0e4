"""Tools that change domains, where the user lets them: kb_ingest, kb_task and kb_forget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from zhiku.mcp.bounds import MAX_RESULT_CHARS, both_chars, counted, fitting, json_chars
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import BadCall, Reply
from zhiku.service.tasks import State, Task

ROOM = MAX_RESULT_CHARS - 3_000
"""For names of documents, all of which are counted."""

Domain = Annotated[str, Field(min_length=1, description="The name of a domain, as kb_domains gives it.")]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A file that could not be read, and why."""

    path: str
    code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """What was done so far. Counts are files, but for chunks and embedded."""

    new: int
    changed: int
    moved: int
    unchanged: int
    missing: int
    """In the index and gone from disk; they stay searched."""
    chunks: int
    embedded: int
    failed: int
    failures: tuple[Failure, ...] = ()
    note: str = ""
    """Why passages are not found by meaning yet, if something kept them from it."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job as it is now. Of one that was cancelled, what was done stays."""

    job_id: str
    title: str
    state: State
    step: str = ""
    done: int = 0
    total: int = 0
    at: str = ""
    """The file that is read."""
    result: Ingested | None = None
    error: str = ""


def kb_ingest(
    sight: Sight,
    *,
    domain: Domain,
    source: Annotated[
        str, Field(min_length=1, description="A file or folder below a root of the domain, absolute or relative to it.")
    ],
    mode: Annotated[
        Literal["incremental", "rebuild"],
        Field(description="Read what is new or changed, or everything in the domain anew while the old index answers."),
    ] = "incremental",
    glossary: Annotated[str, Field(description="A file of terms and aliases to use for the domain from now on.")] = "",
    ocr: Annotated[bool, Field(description="Recognise text in images and on pages that are images.")] = False,
) -> Reply:
    """Begin to read files into a domain."""
    from zhiku.service.ingesting import check_ingest  # what reads files is slow to import, and few servers write

    name = sight.writable(domain)
    wanted = check_ingest(sight.library, name, source, mode=mode, glossary=glossary, ocr=ocr)
    task = sight.tasks.submit(f"{mode} {name}: {wanted.source}", partial(wanted.run, sight.library))
    return _reply(task)


def kb_task(
    sight: Sight, *, job_id: Annotated[str, Field(min_length=1, description="As kb_ingest gives it.")]
) -> Reply:
    """Return what a job is at."""
    return _reply(sight.tasks.get(job_id))


def _reply(task: Task) -> Reply:
    job = Job(
        job_id=task.task_id,
        title=task.title,
        state=task.state,
        step=task.step,
        done=task.done,
        total=task.total,
        at=task.at,
        result=_result(task.result) if task.result else None,
        error=str(task.error or ""),
    )
    return Reply(text="\n".join(filter(None, _as_text(job))), data=job, task="" if task.has_ended else task.task_id)


def _result(told: Mapping[str, Any]) -> Ingested:
    values = {name: told[name] for name in told if name not in ("failures", "interrupted")}
    failures = [Failure(**failure) for failure in told["failures"]]
    return Ingested(**values, failures=tuple(fitting(failures, lambda failure: 2 * json_chars(failure), ROOM)))


def _as_text(job: Job) -> list[str]:
    head = f"Job {job.job_id} ({job.title}): {job.state}"
    if job.state == "queued":
        return [f"{head}. It runs by itself; kb_task(job_id={job.job_id!r}) tells how far it is."]
    if job.state == "running":
        at = f", {job.step} {job.done} of {job.total} {job.at}".rstrip() if job.step else ""
        return [f"{head}{at}."]
    lines = [f"{head}.", job.error]
    if done := job.result:
        lines.append(
            f"{counted(done.new, 'file')} new, {done.changed} changed, {done.moved} moved, {done.unchanged} unchanged;"
            f" {counted(done.embedded, 'chunk')} embedded."
        )
        lines += [f"{done.missing} gone from disk; what is indexed of them stays."] if done.missing else []
        lines += [f"{counted(done.failed, 'file')} could not be read:"] if done.failed else []
        lines += [f"- {failure.path}: {failure.message}" for failure in done.failures]
        lines.append(done.note)
    if job.state == "cancelled":
        lines.append("What was done stays; the same call goes on from there.")
    return lines


@dataclass(frozen=True, kw_only=True)
class Forgotten:
    """Documents that are out of search now, by their paths; `already` counts those that were so before."""

    domain: str
    count: int
    documents: tuple[str, ...]
    already: int = 0
    hint: str = ""


def kb_forget(
    sight: Sight,
    *,
    domain: Domain,
    rel_path: Annotated[str, Field(description="A document or folder, as a search gives its path.")] = "",
    doc_id: Annotated[int, Field(ge=0, description="Or the number of a document in the domain.")] = 0,
) -> Reply:
    """Take documents out of search."""
    from zhiku.service.ingesting import forget_in  # as above

    if bool(rel_path.strip()) == bool(doc_id):
        raise BadCall("kb_forget needs a rel_path or a doc_id, one of them; kb_search gives paths.")
    name = sight.view().named(domain)
    done = forget_in(sight.library, sight.library.open(name), rel_path=rel_path, doc_id=doc_id)
    paths = tuple(document.source.path for document in done.done)
    forgotten = Forgotten(
        domain=name,
        count=len(paths),
        documents=tuple(fitting(paths, both_chars, ROOM)),
        already=len(done.already),
        hint=f"Files are not touched. The user undoes it with: zhiku unforget PATH --base {name}",
    )
    head = f"{counted(len(paths), 'document')} of domain {name} out of search."
    if forgotten.already:
        head += f" {forgotten.already} were so before."
    named = [f"- {path}" for path in forgotten.documents]
    return Reply(text="\n".join([head, *named, forgotten.hint]), data=forgotten)
