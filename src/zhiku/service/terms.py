"""The terms of a base and what is odd about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zhiku.errors import ZhikuError
from zhiku.model import LexicalQuery
from zhiku.ports import ReadSession
from zhiku.retrieve.expand import spellings_of
from zhiku.service.glossaries import named_file, read_glossary
from zhiku.text.analyze import Analyzer
from zhiku.text.glossary import Entry, Glossary
from zhiku.text.glossary_check import Finding, check_entries


@dataclass(frozen=True, kw_only=True)
class Terms:
    """A glossary, checked."""

    base: str | None
    glossary: Glossary
    findings: tuple[Finding, ...]
    was_asked: bool
    """Whether the documents of the base were asked for the words."""

    @property
    def faults(self) -> tuple[ZhikuError, ...]:
        """Return why files cannot be read, and lines not used."""
        return (*self.glossary.faults, *self.glossary.problems)

    @property
    def is_sound(self) -> bool:
        """Return whether nothing should be changed."""
        return not self.faults and not any(finding.is_fault for finding in self.findings)

    def of(self, kind: str) -> list[Finding]:
        """Return the findings of one kind."""
        return [finding for finding in self.findings if finding.kind == kind]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "base": self.base,
            "was_asked": self.was_asked,
            "files": list(self.glossary.paths),
            "terms": [_described(entry) for entry in self.glossary.entries],
            "faults": [{"code": each.code, "message": each.message, "hint": each.hint} for each in self.faults],
            "findings": [
                {
                    "kind": finding.kind,
                    "words": list(finding.words),
                    "places": [{"file": entry.path, "line": entry.line} for entry in finding.entries],
                }
                for finding in self.findings
            ],
        }


def terms_of_file(file: str | Path) -> Glossary:
    """Return what a file says that may become a glossary. Raises `NotFound`, or the `SourceError` that hides it."""
    return read_glossary(Path(named_file(file)))


def check_terms(glossary: Glossary, base: str | None, session: ReadSession | None, analyzer: Analyzer) -> Terms:
    """Return a glossary with what is odd about it; a session tells which of its words no document holds."""
    findings = check_entries(glossary.entries, analyzer)
    if session:
        findings += _not_found(glossary.entries, session, analyzer)
    return Terms(base=base, glossary=glossary, findings=tuple(findings), was_asked=session is not None)


def _not_found(entries: Sequence[Entry], session: ReadSession, analyzer: Analyzer) -> Iterator[Finding]:
    places: dict[str, list[Entry]] = {}
    for entry in entries:
        for word in entry.words:
            places.setdefault(word, []).append(entry)
    for word, found in places.items():
        if not session.search_lexical(LexicalQuery(phrases=spellings_of(word, analyzer)), limit=1):
            yield Finding(kind="not_found", words=(word,), entries=tuple(found))


def _described(entry: Entry) -> dict[str, Any]:
    term, *aliases = entry.words
    return {"term": term, "aliases": aliases, "file": entry.path, "line": entry.line}
