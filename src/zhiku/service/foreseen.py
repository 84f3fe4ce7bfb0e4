"""One base as far as it is told beforehand what a run over it would do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.config import load_base_settings
from zhiku.service.opened import OpenedBase
from zhiku.service.targets import Target, as_paths, check_paths, targets_of

if TYPE_CHECKING:
    from zhiku.ingest.pipeline import Options, Progress
    from zhiku.service.embedding import Sending
    from zhiku.service.indexing import IndexReport, Work


class ForeseenBase(OpenedBase):
    """A base that is not changed; see `zhiku.service.base.Base`."""

    def preview(
        self,
        paths: Sequence[str | Path] = (),
        *,
        embed: bool = True,
        check: bool = False,
        ocr: bool = False,
        exclude: Sequence[str] = (),
        jobs: int | None = None,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Return what `index` would report, and write and send nothing.

        Where an endpoint embeds the base, the files that a run would read are parsed, to estimate what would be sent;
        else nothing is. `exclude` are patterns of what is left out besides what the settings leave out.
        """
        from zhiku.ingest.pipeline import Options  # a search must not pay for the parsers' import
        from zhiku.service.embedding import Prospect, prospect_of
        from zhiku.service.indexing import preview_targets
        from zhiku.service.recognition import check_ocr_is_installed, with_ocr

        if ocr:
            check_ocr_is_installed()
        targets = self.targets(as_paths(paths))
        settings = with_ocr(load_base_settings(self.folder), ocr)
        settings = replace(settings, exclude=(*settings.exclude, *exclude))
        with ExitStack() as stack:
            session = stack.enter_context(self.reading()) if self.exists() else None
            prospect = Prospect()
            if embed:
                manifest = session.manifest() if session else {}
                prospect = prospect_of(self.name, settings, manifest, self._embedders, may_replace=False)
            work = self._work(Options(check=check, progress=progress), jobs)
            return preview_targets(session, targets, settings, work, prospect)

    def sending(self, *, rebuilds: bool = False) -> Sending | None:
        """Return what `index`, or `rebuild`, would send to an endpoint; None where nothing leaves the process.

        Raises `ConfigError` where an endpoint is set by half.
        """
        from zhiku.service.embedding import prospect_of  # as above

        settings = load_base_settings(self.folder)
        return prospect_of(self.name, settings, self._manifest(), self._embedders, may_replace=rebuilds).sending

    def targets(self, paths: Sequence[Path]) -> list[Target]:
        """Return what indexing `paths` means here, without doing it."""
        check_paths(paths, self._remembers)
        roots = [Path(root) for root in load_base_settings(self.folder).roots]
        return targets_of(self.name, roots, paths)

    def _remembers(self, path: Path) -> bool:
        from zhiku.service.roots import remembers  # most paths exist

        if not self.exists():
            return False
        with self.reading() as session:
            return remembers(load_base_settings(self.folder).roots, session, Path(os.path.realpath(path)))

    def _work(self, options: Options, jobs: int | None = None, *, every_page: bool = False) -> Work:
        from zhiku.service.indexing import Work, default_jobs  # as above

        return Work(
            home=self.folder.parent.parent,
            limits=self._settings.index,
            jobs=jobs or default_jobs(),
            options=options,
            every_page=every_page,
            before_migration=lambda: self._snapshot("migration"),
        )
