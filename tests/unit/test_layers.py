"""The layers of the architecture hold."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import zhiku

PACKAGE = Path(zhiku.__file__).parent
PYPROJECT = PACKAGE.parents[1] / "pyproject.toml"
ONLY_IN = {
    "apsw": "stores",
    "httpx2": "remote",
    "click": "cli",
    "pypdfium2": "parsers",
    "markdown_it": "parsers",
    "pathspec": "ingest",
    "watchfiles": "ingest",
    "uvicorn": "web",
    "fastapi": "web",
    "mcp": "mcp",
    "mcp_types": "mcp",
}


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


@pytest.mark.skipif(not PYPROJECT.exists(), reason="the contract lies beside the sources")
def test_no_part_imports_sideways_or_up() -> None:
    # In a process of its own, since the linter switches off the loggers that other tests listen to.
    lint = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", lint], cwd=PYPROJECT.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("library", "part"), ONLY_IN.items())
def test_a_technology_is_known_to_one_part_only(library: str, part: str) -> None:
    users = {file.relative_to(PACKAGE).parts[0] for file in PACKAGE.rglob("*.py") if library in imported(file)}
    assert users == {part}


def test_print_is_left_to_the_screen() -> None:
    calls = [
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert calls in ([], ["cli/render.py"])
