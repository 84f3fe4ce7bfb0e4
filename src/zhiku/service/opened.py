"""A base's folder with what is in it: its index, its lock and the copies of its index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.config import Settings
from zhiku.errors import Damaged, IndexStateError, ManifestMismatch, NotFound
from zhiku.paths import private_umask, writer_lock
from zhiku.ports import ReadSession, Store
from zhiku.registry import STORES, load
from zhiku.service.glossaries import Glossaries
from zhiku.service.meaning import Embedders
from zhiku.service.reranking import Rerankers
from zhiku.text.analyze import ANALYZER_VERSION, Analyzer

if TYPE_CHECKING:
    from zhiku.service.snapshots import Snapshot


class OpenedBase:
    """What every use of a base needs; see `zhiku.service.base.Base`."""

    def __init__(
        self,
        name: str,
        folder: Path,
        settings: Settings,
        analyzer: Analyzer,
        embedders: Embedders,
        rerankers: Rerankers,
    ) -> None:
        self.name = name
        self.folder = folder
        self._settings = settings
        self._analyzer = analyzer
        self._embedders = embedders
        self._rerankers = rerankers
        self._glossaries = Glossaries()
        self._store: Store = load(STORES, "sqlite")(folder)

    def snapshots(self) -> list[Snapshot]:
        """Return the copies there are, the newest first."""
        from zhiku.service.snapshots import list_snapshots  # a search must not pay for the import

        return list_snapshots(self.folder)

    @contextmanager
    def locked(self, wait_s: float = 0.0) -> Iterator[None]:
        """Be the one process that writes the base. Raises `Busy` where another still is after `wait_s` seconds."""
        from zhiku.service.snapshots import remove_unfinished  # as above

        with private_umask(), writer_lock(self.folder, wait_s):
            remove_unfinished(self.folder)
            yield

    def exists(self) -> bool:
        """Return whether anything was ever indexed here."""
        return self._store.exists()

    @contextmanager
    def reading(self) -> Iterator[ReadSession]:
        """Open one consistent view of the base. Raises `IndexStateError` where the index cannot answer."""
        if not self._store.exists():
            raise self._empty()
        with self._store.reading() as session:
            self._check_manifest(session)
            yield session

    def close(self) -> None:
        """Close what is open; the base can still be used afterwards."""
        self._store.close()

    def _manifest(self) -> Mapping[str, str]:
        """Return what built the index; nothing where that cannot be read."""
        if not self.exists():
            return {}
        try:
            with self._store.reading() as session:
                return session.manifest()
        except IndexStateError:
            return {}

    def _snapshot(self, reason: str, spared: Snapshot | None = None) -> Snapshot | None:
        """Copy the index; None where there is nothing that could be copied."""
        from zhiku.service.snapshots import take_snapshot  # as above

        if not self._store.exists():
            return None
        try:
            return take_snapshot(self.folder, self._store, reason, self._settings.snapshots, spared)
        except Damaged as error:
            warn("no copy of the index is made: %s", error.message)
            return None

    def _empty(self) -> NotFound:
        if self.snapshots():
            return NotFound(
                "base {name!r} holds nothing now, but there are copies of what it held.",
                name=self.name,
                hint="put the last one back: zhiku restore latest --base {name}",
            )
        return NotFound(
            "base {name!r} holds nothing yet.", name=self.name, hint="index something: zhiku index PATH --base {name}"
        )

    def _check_manifest(self, session: ReadSession) -> None:
        built_by = session.manifest().get("analyzer", ANALYZER_VERSION)
        if built_by != ANALYZER_VERSION:
            raise ManifestMismatch(
                "base {name!r} was indexed by analyzer {built}; this zhiku has {known}.",
                name=self.name,
                built=built_by,
                known=ANALYZER_VERSION,
                hint="build it anew: zhiku rebuild --base {name}",
            )


def warn(message: str, *values: object) -> None:
    """Say something that the user should know, in the log."""
    import logging  # its import is a tenth of a search's time

    logging.getLogger(__name__).warning(message, *values)
