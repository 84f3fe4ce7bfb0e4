"""Every exception a caller may see, in one tree.

An error is a message (what failed, on which object, why) and a hint (the next command). Both are kept as
templates with their parameters, so that a door can print them in the reader's language (see `zhiku.i18n`).
"""

from __future__ import annotations


class ZhikuError(Exception):
    """Base of all errors that zhiku raises on purpose."""

    code = "error"
    exit_code = 70

    def __init__(self, template: str, /, *, hint: str = "", **params: object) -> None:
        super().__init__(template)
        self.template = template
        self.hint_template = hint
        self.params = params

    @property
    def message(self) -> str:
        """Return the English message: what failed, on which object, and why."""
        return self.template.format(**self.params)

    @property
    def hint(self) -> str:
        """Return the English hint (the next command to run), or an empty string."""
        return self.hint_template.format(**self.params)

    def __str__(self) -> str:
        return f"{self.message} Hint: {self.hint}" if self.hint_template else self.message


class UsageError(ZhikuError):
    """What was asked cannot be done as asked."""

    code = "usage"
    exit_code = 2


class ConfigError(UsageError):
    """A setting is unknown, malformed or contradicts another."""

    code = "config"


class QueryError(UsageError):
    """A query or filter holds nothing to look for."""

    code = "query"


class NotFound(UsageError):
    """No base, document, page or line of that name exists."""

    code = "not_found"


class SourceError(ZhikuError):
    """One file could not be read; the run goes on with the others."""

    code = "source"
    exit_code = 3


class UnsupportedFormat(SourceError):
    """No parser reads this kind of file."""

    code = "unsupported"


class ParseFailed(SourceError):
    """The file is damaged, or not what its name says."""

    code = "damaged"


class TooLarge(SourceError):
    """The file, or the text that comes out of it, is over a limit."""

    code = "too_large"


class PasswordNeeded(SourceError):
    """The file is encrypted."""

    code = "password"


class NeedsOcr(SourceError):
    """The file has pages but no usable text layer."""

    code = "needs_ocr"


class Unreadable(SourceError):
    """The operating system refused to read the file."""

    code = "unreadable"


class Changing(SourceError):
    """The file changed each time while it was read; the next run reads it."""

    code = "changing"


class Crashed(SourceError):
    """The process that read the file ended over it."""

    code = "crashed"


class TimedOut(SourceError):
    """Reading the file took longer than a file may take."""

    code = "timeout"


class OutOfMemory(SourceError):
    """Reading the file took more memory than a file may use."""

    code = "memory"


class IndexStateError(ZhikuError):
    """The index is not in a state that can answer."""

    code = "index_state"
    exit_code = 4


class ManifestMismatch(IndexStateError):
    """The index was built by something else than what would query it."""

    code = "manifest_mismatch"


class MigrationNeeded(IndexStateError):
    """The index file is of an older schema."""

    code = "migration_needed"


class NewerSchema(IndexStateError):
    """The index file was written by a newer zhiku."""

    code = "newer_schema"


class Damaged(IndexStateError):
    """The index file is damaged, or is none of zhiku's."""

    code = "damaged_index"


class Busy(ZhikuError):
    """Another process writes this base."""

    code = "busy"
    exit_code = 7


class ModelError(ZhikuError):
    """A model did not answer as it should."""

    code = "model"
    exit_code = 5


class ModelUnavailable(ModelError):
    """A model cannot be reached now; trying again may help."""

    code = "model_unavailable"


class BadModelReply(ModelError):
    """A model answered with something that cannot be used."""

    code = "bad_model_reply"


class MissingExtra(ZhikuError):
    """An optional dependency is not installed."""

    code = "missing_extra"
    exit_code = 6
