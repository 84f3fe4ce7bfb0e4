"""One base as far as it is changed: indexed, rebuilt, mended, copied, and what is forgotten in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.config import BASE_FILE, BaseSettings, load_base_settings, save_base_settings
from zhiku.errors import IndexStateError
from zhiku.model import Document
from zhiku.ports import WriteSession
from zhiku.service.foreseen import ForeseenBase
from zhiku.service.glossaries import named_file
from zhiku.service.meaning import NONE
from zhiku.service.opened import warn
from zhiku.service.targets import Target, as_paths

if TYPE_CHECKING:
    from zhiku.ingest.embed import EmbedProgress
    from zhiku.ingest.pipeline import Announce, Progress
    from zhiku.service.embedding import Embedding
    from zhiku.service.forgetting import Forgetting
    from zhiku.service.indexing import IndexReport
    from zhiku.service.rebuilding import Rebuild, Repair
    from zhiku.service.snapshots import Restoration, Snapshot


class MaintainedBase(ForeseenBase):
    """A base without what it is asked; see `zhiku.service.base.Base`."""

    def index(
        self,
        paths: Sequence[str | Path] = (),
        *,
        embed: bool = True,
        may_send: bool = False,
        prune: bool = False,
        check: bool = False,
        ocr: bool = False,
        force_ocr: bool = False,
        glossary: str | Path | None = None,
        wait_s: float = 0.0,
        announce: Announce | None = None,
        threads: int = 1,
        jobs: int | None = None,
        progress: Progress | None = None,
        embed_progress: EmbedProgress | None = None,
    ) -> IndexReport:
        """Bring the base up to date with `paths`, or with all its roots: first its words, then, with `embed`, vectors.

        A path inside a root updates that part; any other becomes a root of its own. Files are never written to. The
        base can be searched by words as soon as these are stored; `threads` are the cores that embedding may use,
        `jobs` how many PDFs and other files that need a process of their own are parsed at once (half the cores).
        `check` reads every file, whatever its size and times say. `prune` deprecates the documents whose files are
        gone, or left out by a rule now, under these paths alone; `announce` is called with their paths first.
        `ocr` recognises the text of images and of pages that are images, as the base's settings may say for all runs;
        `force_ocr` that of every page under `paths`, also where the file has text or was read so before.
        `glossary` names a file of terms and aliases, which is remembered and read anew for every search; an empty name
        takes back what was remembered.
        `may_send` agrees to sending text to an endpoint on another computer, which without it is not done for the first
        time (see `sending`).

        Raises `NotFound` for a path that does not exist and never did here, `UsageError` for one above a root,
        `MissingExtra` where OCR is asked for and not installed, `Busy` while another process writes the base for longer
        than `wait_s` seconds. Where the embedder fails, the words stay, and the report says why.
        """
        from zhiku.ingest.pipeline import Options  # a search must not pay for the parsers' import
        from zhiku.service.embedding import EmbedWork, embed_base
        from zhiku.service.indexing import index_targets
        from zhiku.service.recognition import check_ocr_is_installed, with_ocr

        if ocr or force_ocr:
            check_ocr_is_installed()
        named = None if glossary is None else named_file(glossary)
        targets = self.targets(as_paths(paths))
        options = Options(check=check or force_ocr, prune=prune, announce=announce, progress=progress)
        with self.locked(wait_s):
            settings = with_ocr(self._settings_for(targets, named), ocr or force_ocr)
            self._check_embedder(settings, embed=embed)
            if not self.exists() and self.snapshots():
                warn("the index of base %s is gone and begun anew; the last copy: zhiku restore latest", self.name)
            report = index_targets(self._store, targets, settings, self._work(options, jobs, every_page=force_ocr))
            if not embed or report.interrupted:
                return report
            wanted = EmbedWork(threads=threads, progress=embed_progress, may_send=may_send)
            embedding = embed_base(self.name, self._store, settings, self._embedders, wanted)
            return replace(report, embedding=embedding)

    def rebuild(
        self,
        *,
        may_send: bool = False,
        ocr: bool = False,
        wait_s: float = 0.0,
        threads: int = 1,
        jobs: int | None = None,
        progress: Progress | None = None,
        embed_progress: EmbedProgress | None = None,
    ) -> Rebuild:
        """Build the index anew beside this one from all roots, then put it in this one's place in one step.

        This one answers until then, and stays if anything fails. Documents keep their ids, what was forgotten stays
        so, and a text that the base's embedder of now has embedded is not embedded again. A snapshot is made first.
        With OCR (see `index`) also where OCR has read a page before, which would be lost without.
        """
        from zhiku.ingest.pipeline import Options  # as above
        from zhiku.service.embedding import EmbedWork, embed_base
        from zhiku.service.rebuilding import rebuild_index
        from zhiku.service.recognition import check_ocr_is_installed, with_ocr

        targets = self.targets(())
        if ocr := ocr or self._was_read_by_ocr():
            check_ocr_is_installed()
        settings = with_ocr(load_base_settings(self.folder), ocr)
        with self.locked(wait_s):
            self._check_embedder(settings)
            self._snapshot("rebuild")
            wanted = EmbedWork(threads=threads, progress=embed_progress, may_replace=True, may_send=may_send)
            return rebuild_index(
                self._store,
                targets,
                settings,
                self._work(Options(progress=progress), jobs),
                lambda built: embed_base(self.name, built, settings, self._embedders, wanted),
            )

    def repair(self, *, wait_s: float = 0.0) -> Repair:
        """Make full text and packs of vectors anew from the record, without reading or embedding a file.

        Raises `Damaged` where the record is damaged too; the index stays as it is then.
        """
        from zhiku.service.rebuilding import repair_index  # as above

        with self.locked(wait_s):
            return repair_index(self._store)

    def snapshot(self, *, wait_s: float = 0.0) -> Snapshot:
        """Copy the index into the base's folder of snapshots. Raises `NotFound` where there is none yet."""
        with self.locked(wait_s):
            if taken := self._snapshot("request"):
                return taken
        raise self._empty()

    def restore(self, name: str = "latest", *, wait_s: float = 0.0) -> Restoration:
        """Put a snapshot in the place of the index, of which a copy is made first; files are not touched.

        Raises `NotFound`, or `Damaged` where the snapshot is; the index stays as it is then.
        """
        from zhiku.service.rebuilding import restore_index  # as above
        from zhiku.service.snapshots import Restoration, find_snapshot

        with self.locked(wait_s):
            wanted = find_snapshot(self.folder, name)
            saved = restore_index(self._store, wanted.path, lambda: self._snapshot("restore", spared=wanted))
        return Restoration(restored=wanted, saved=saved)

    def forget(self, *names: str, wait_s: float = 0.0) -> Forgetting:
        """Take documents out of search: each name is a document's id, locator or path, or a folder's path.

        They stay in the record, and later runs leave their files alone. Raises `NotFound` before anything is done.
        """
        from zhiku.service.forgetting import forget  # as above

        return self._set_forgotten(forget, names, wait_s)

    def unforget(self, *names: str, wait_s: float = 0.0) -> Forgetting:
        """Undo `forget`."""
        from zhiku.service.forgetting import unforget  # as above

        return self._set_forgotten(unforget, names, wait_s)

    def embed(
        self,
        *,
        may_send: bool = False,
        wait_s: float = 0.0,
        threads: int = 1,
        progress: EmbedProgress | None = None,
    ) -> Embedding | None:
        """Embed every chunk that has no vector yet; None where the base is searched by words only. See `index`."""
        from zhiku.service.embedding import EmbedWork, embed_base  # as above

        settings = load_base_settings(self.folder)
        with self.locked(wait_s):
            wanted = EmbedWork(threads=threads, progress=progress, may_send=may_send)
            return embed_base(self.name, self._store, settings, self._embedders, wanted)

    def _check_embedder(self, settings: BaseSettings, *, embed: bool = True) -> None:
        """Raise what is wrong with the embedder's settings before the work, not after it."""
        manifest = self._manifest()
        name = self._embedders.name_for(settings, manifest)
        if embed and name != NONE:
            self._embedders.get(name, manifest=manifest)

    def _was_read_by_ocr(self) -> bool:
        """Answer whether OCR read any page that a rebuild would have to read again."""
        from zhiku.service.recognition import any_read_by_ocr  # as above

        if not self._store.exists():
            return False
        try:
            with self._store.reading() as session:
                return any_read_by_ocr(session.documents())
        except IndexStateError:
            return False  # a rebuild mends that, from the files alone

    def _set_forgotten(
        self, change: Callable[[WriteSession, Sequence[Document]], Forgetting], names: Sequence[str], wait_s: float
    ) -> Forgetting:
        from zhiku.service.forgetting import find_documents  # as above

        with self.locked(wait_s):
            with self.reading() as session:
                named = find_documents(session, self.name, names)
            with self._store.writing() as writer:
                return change(writer, named)

    def _settings_for(self, targets: Sequence[Target], glossary: str | None) -> BaseSettings:
        """Return the base's settings with the roots of these targets, and a glossary if one is named; save them."""
        before = load_base_settings(self.folder)
        fresh = dict.fromkeys(str(target.root) for target in targets if str(target.root) not in before.roots)
        settings = replace(before, roots=(*before.roots, *fresh))
        if glossary is not None:
            settings = replace(settings, glossary=glossary)
        if settings != before or not (self.folder / BASE_FILE).exists():
            save_base_settings(self.folder, settings)
        return settings
