"""The sets of tools that a server can offer, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from zhiku.errors import UsageError
from zhiku.mcp.tool import Tool

DEFAULT_SET = "default"
SETS: Mapping[str, str] = {
    DEFAULT_SET: "zhiku.mcp.default_set:TOOLS",
    "kb": "zhiku.mcp.kb_set:TOOLS",
    "knowledge": "zhiku.mcp.knowledge_set:TOOLS",
    "domain": "zhiku.mcp.domain_set:TOOLS",
    "persona": "zhiku.mcp.persona_set:TOOLS",
}


def tools_of(names: Sequence[str], *, allow_write: bool = False) -> list[Tool]:
    """Return the tools of some sets; those that change something only where that is allowed.

    Raises `UsageError` for a set that is not there, and where two claim one name.
    """
    found: dict[str, Tool] = {}
    for name in names:
        if name not in SETS:
            raise UsageError(
                "there is no set of tools {name!r}.", name=name, known=", ".join(SETS), hint="choose from: {known}"
            )
        module, _, attribute = SETS[name].partition(":")
        for tool in getattr(import_module(module), attribute):
            if tool.needs_write and not allow_write:
                continue
            if tool.name in found:
                raise UsageError(
                    "the sets of tools {names} have a tool {tool} each.",
                    names=", ".join(names),
                    tool=tool.name,
                    hint="start a server for each of them",
                )
            found[tool.name] = tool
    return list(found.values())
