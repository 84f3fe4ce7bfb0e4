"""Read the YAML block at the start of a note; odd YAML costs a warning, never the file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]  # PyYAML without libyaml

MAX_YAML_CHARS: Final = 64 * 1024
"""More than any person writes; a bound on what the YAML reader is asked to do."""

MAX_YAML_DEPTH: Final = 50
"""The C composer recurses without a guard of its own, so nesting is bounded before it runs."""

_KEY_LINE: Final = re.compile(r"""["']?[\w-][^:\n]*:(?:\s|$)""")
_ITEM_LINE: Final = re.compile(r"\s*-\s+(.*)")
_COMMENT: Final = re.compile(r"\s+#.*")


class _CoreLoader(_SafeLoader):
    """Read plain scalars as YAML 1.2 does (Core schema, section 10.3.2): `no` and 2024-01-05 are text."""

    yaml_implicit_resolvers = {}  # noqa: RUF012  # PyYAML declares it so


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]{1,18}", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?", "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
):
    _CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), _first)


@dataclass(frozen=True, kw_only=True)
class Frontmatter:
    """What the block said. `values` is JSON-able; `raw` is set only where the YAML could not be read."""

    values: Mapping[str, Any] = field(default_factory=dict)
    line_count: int = 0
    """Lines that the block takes at the start of the file, both marks included; 0 where there is none."""
    raw: str = ""
    warning: str = ""

    def names(self, *keys: str, separators: str = ",，、") -> list[str]:
        """Return the value under the first of `keys` that is there, as a list of words or phrases."""
        lowered = {key.lower(): value for key, value in self.values.items()}
        value: object = next((lowered[key] for key in keys if lowered.get(key) is not None), [])
        if not isinstance(value, list):
            value = re.split(f"[{separators}]", str(value))
        return [str(item).strip() for item in value if str(item).strip()]

    @property
    def title(self) -> str:
        """Return the title on one line, or an empty string."""
        return " ".join(" ".join(self.names("title", separators="\n")).split())


def read_frontmatter(lines: Sequence[str]) -> Frontmatter:
    """Read the block between `---` and `---` or `...` at the very start of a file, if it is one."""
    end = _closing_line(lines)
    if not end:
        return Frontmatter()
    raw = "\n".join(lines[1:end])
    try:
        values = _load(raw)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError, AttributeError):
        values = None
    if isinstance(values, dict) or not raw.strip():
        return Frontmatter(values=_jsonable(values or {}), line_count=end + 1)
    if not _starts_with_a_key(lines[1:end]):  # text between two rules
        return Frontmatter()
    warning = "The frontmatter is not plain YAML; only its title, tags and aliases were looked for"
    return Frontmatter(values=_scan(lines[1:end]), line_count=end + 1, raw=raw, warning=warning)


def _closing_line(lines: Sequence[str]) -> int:
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((n for n in range(1, len(lines)) if lines[n].rstrip() in ("---", "...")), 0)


def _load(raw: str) -> object:
    if len(raw) > MAX_YAML_CHARS:
        raise ValueError("too long")
    depth = 0
    for event in yaml.parse(raw, Loader=_CoreLoader):
        # An alias may stand for a value of any size, over and over.
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("alias")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_YAML_DEPTH:
            raise ValueError("too deep")
    return yaml.load(raw, Loader=_CoreLoader)  # noqa: S506  # a SafeLoader with fewer resolvers


def _jsonable(value: object) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_jsonable(item) for item in value]
    is_plain = value is None or isinstance(value, bool | int | str)
    return value if is_plain or (isinstance(value, float) and math.isfinite(value)) else str(value)


def _starts_with_a_key(lines: Sequence[str]) -> bool:
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return _KEY_LINE.match(first) is not None


def _scan(lines: Sequence[str]) -> dict[str, Any]:
    """Find title, tags and aliases line by line, as they are usually written."""
    found: dict[str, Any] = {}
    key = ""
    for line in lines:
        item = _ITEM_LINE.match(line)
        if item and isinstance(found.get(key), list):
            found[key].append(_unquote(item.group(1)))
            continue
        name, colon, value = line.partition(":")
        if not colon or line[:1].isspace():
            continue
        key = name.strip().strip("\"'").lower()
        if key in ("title", "tags", "tag", "aliases", "alias") and key not in found:
            found[key] = _scan_value(key, value)
    return found


def _scan_value(key: str, value: str) -> str | list[str]:
    value = _COMMENT.sub("", f" {value}").strip() if value.lstrip()[:1] not in ("'", '"') else value.strip()
    if key == "title":
        return _unquote(value)
    separator = r"[,，]" if value.startswith("[") or "alias" in key else r"[,，\s]"
    return [_unquote(part) for part in re.split(separator, value.strip("[]")) if part.strip()]


def _unquote(value: str) -> str:
    return value.strip().strip("\"'").strip()
