"""What a sync did: by library root, by base, and which roots of bases are gone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from zhiku.errors import SourceError, ZhikuError
from zhiku.service.library_root import BaseFolder, LibraryRoot

if TYPE_CHECKING:
    from zhiku.ingest.report import Report
    from zhiku.model import LedgerEntry
    from zhiku.service.indexing import IndexReport


@dataclass(frozen=True, kw_only=True)
class SyncedBase:
    """What was done for one base."""

    name: str
    folders: tuple[BaseFolder, ...] = ()
    report: IndexReport | None = None
    """None where the base could not be brought up to date; then there is an error."""
    error: ZhikuError | None = None
    problems: tuple[SourceError, ...] = ()
    """Why an `intro.md` could not be read."""
    takes_intro: bool = False
    """Whether the base's settings were changed for an `intro.md`."""

    @property
    def parts(self) -> list[Report]:
        """Return what was done for each folder."""
        return [each.report for each in self.report or ()]

    @property
    def failed(self) -> list[LedgerEntry]:
        """Return the files that could not be read."""
        return [entry for part in self.parts for entry in part.failed]

    @property
    def embedded(self) -> int:
        """Return how many chunks were given a vector."""
        embedding = self.report.embedding if self.report else None
        return embedding.report.embedded + embedding.report.reused if embedding else 0

    @property
    def interrupted(self) -> bool:
        """Return whether Ctrl-C ended the run here."""
        return self.report is not None and self.report.interrupted

    @property
    def failure(self) -> ZhikuError | None:
        """Return why the base, or its vectors, could not be brought up to date."""
        if self.error is None and self.report is not None and self.report.embedding is not None:
            return self.report.embedding.failure
        return self.error

    def count(self, what: str) -> int:
        """Return a number of the reports, such as `added`, over all folders; of a list, its length."""
        found = [getattr(part, what) for part in self.parts]
        return sum(len(each) if isinstance(each, list) else each for each in found)

    def _sending(self) -> dict[str, Any] | None:
        """Return what a dry run says of an endpoint."""
        if self.report is None or self.report.sending is None or self.report.estimate is None:
            return None
        sending, estimate = self.report.sending, self.report.estimate
        return {"address": sending.address, "needs_yes": sending.is_new, **asdict(estimate)}

    @property
    def glossaries(self) -> list[str]:
        """Return the base's glossaries in its library roots."""
        return list(dict.fromkeys(str(folder.glossary) for folder in self.folders if folder.glossary))

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "name": self.name,
            "folders": [str(folder.path) for folder in self.folders],
            "glossaries": self.glossaries,
            "takes_intro": self.takes_intro,
            "new": self.count("added"),
            "changed": self.count("changed"),
            "reread": self.count("reread"),
            "moved": self.count("moved"),
            "unchanged": self.count("unchanged"),
            "missing": self.count("missing"),
            "left_out": self.count("left_out"),
            "pruned": self.count("pruned"),
            "returned": self.count("returned"),
            "forgotten": self.count("forgotten"),
            "failed": [_entry(entry) for entry in self.failed],
            "textless": [_entry(entry) for part in self.parts for entry in part.textless],
            "chunks": self.count("chunks"),
            "embedded": self.embedded,
            "sending": self._sending(),
            "problems": [_problem(each) for each in (*self.problems, *filter(None, [self.failure]))],
        }


@dataclass(frozen=True, kw_only=True)
class GoneRoot:
    """A root of a base that is no longer there; its documents are still searched."""

    base: str
    path: str
    documents: int


@dataclass(frozen=True, kw_only=True)
class SyncReport:
    """What a sync did, and what it found in the library roots."""

    roots: tuple[LibraryRoot, ...]
    bases: tuple[SyncedBase, ...]
    gone: tuple[GoneRoot, ...] = ()
    dry_run: bool = False
    """Whether nothing was written, and this is what would be done."""
    interrupted: bool = False
    """Whether Ctrl-C ended the run early; bases behind that are not in it."""

    @property
    def problems(self) -> list[SourceError]:
        """Return what of the library roots could not be used."""
        return [each for root in self.roots for each in root.problems]

    @property
    def failure(self) -> ZhikuError | None:
        """Return the first error that kept a base, or its vectors, from being brought up to date."""
        return next((base.failure for base in self.bases if base.failure), None)

    @property
    def is_complete(self) -> bool:
        """Return whether every folder and every file that was wanted is in its base now."""
        left_out = self.problems or self.gone or self.failure or self.interrupted
        return not left_out and not any(base.problems or base.failed for base in self.bases)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "dry_run": self.dry_run,
            "interrupted": self.interrupted,
            "roots": [_root(root) for root in self.roots],
            "bases": [base.to_dict() for base in self.bases],
            "gone": [asdict(each) for each in self.gone],
        }


def _root(root: LibraryRoot) -> dict[str, Any]:
    return {
        "path": str(root.path),
        "problems": [_problem(each) for each in root.problems],
        "skipped": [{"path": each.path, "code": each.reason, "detail": each.detail} for each in root.skipped],
        "loose_files": root.loose_files,
        "unused": [{"line": each.line, "folder": each.folder} for each in root.unused],
    }


def _problem(error: ZhikuError) -> dict[str, str]:
    return {"code": error.code, "message": error.message, "hint": error.hint}


def _entry(entry: LedgerEntry) -> dict[str, str]:
    return {"root": entry.root, "path": entry.path, "code": entry.code, "message": entry.message}
