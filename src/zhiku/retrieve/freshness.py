"""Whether a hit's file still says what the index says."""

from __future__ import annotations

from pathlib import Path

from zhiku.model import Document, FileState
from zhiku.ports import ReadSession

_READ_BYTES = 1 << 20


def file_of(document: Document) -> Path:
    """Return the absolute path of a document's file."""
    return Path(document.source.root, document.source.path)


def file_state(session: ReadSession, document: Document) -> FileState:
    """Compare a document with its file as it is now: by size and times, and by content where those differ."""
    source = document.source
    path = file_of(document)
    try:
        status = path.stat()
        # The last of these says that an old time was put back after a change.
        times = (status.st_mtime_ns, status.st_ctime_ns)
        if status.st_size == source.size_bytes and times == (source.mtime_ns, abs(source.ctime_ns)):
            return "unchanged"
        if status.st_size == source.size_bytes and _sha256(path) == source.sha256:
            return "unchanged"
    except (OSError, UnicodeEncodeError):  # a locale without UTF-8 cannot even name some files
        return "moved" if _has_moved(session, document) else "missing"
    return "changed"


def _has_moved(session: ReadSession, document: Document) -> bool:
    twins = session.documents_with(document.source.sha256)
    return any(twin.doc_id != document.doc_id and file_of(twin).exists() for twin in twins)


def _sha256(path: Path) -> str:
    import hashlib  # loads OpenSSL, and most files are as they were

    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_READ_BYTES):
            digest.update(block)
    return digest.hexdigest()
