"""The documentation says what the program does: names, codes, links, and commands that run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_args

import click
import pytest

import zhiku
from zhiku.answer import Health, Hit
from zhiku.cli.hits import WHY
from zhiku.cli.main import zhiku as group
from zhiku.cli.reasons import RULES
from zhiku.cli.session import Session
from zhiku.config import BaseSettings, Settings
from zhiku.config.edit import all_settings
from zhiku.errors import ZhikuError
from zhiku.ingest.rules import SkipReason

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "zhiku"
PAGES = sorted(
    page for pattern in ("*.md", "docs/**/*.md", "evals/**/*.md", "benchmarks/**/*.md") for page in ROOT.glob(pattern)
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def blocks(name: str, *languages: str) -> list[str]:
    return [text for language, text in BLOCK.findall(read(name)) if language in languages]


def section(page: str, heading: str) -> str:
    """Return what stands under a second-level heading that begins so."""
    parts = [part for part in re.split(r"^## ", page, flags=re.MULTILINE) if part.startswith(heading)]
    assert len(parts) == 1, f"{len(parts)} sections begin with {heading!r}"
    return parts[0]


def options_of(command: click.Command, ctx: click.Context) -> set[str]:
    return {opt for param in command.get_params(ctx) if isinstance(param, click.Option) for opt in param.opts} - {
        "--help"
    }


def error_classes(kind: type[ZhikuError] = ZhikuError) -> Iterator[type[ZhikuError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == ZhikuError.__module__:
            yield from error_classes(child)


def slug(heading: str) -> str:
    """Return a heading's anchor as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


# --- names and codes ---


@pytest.mark.parametrize("name", [*group.list_commands(click.Context(group)), ""])
def test_every_option_of_a_command_is_documented_and_no_other(name: str) -> None:
    ctx = click.Context(group, info_name="zhiku", obj=Session())
    command = group.get_command(ctx, name) if name else group
    assert command is not None
    text = section(read("docs/cli.md"), f"`zhiku {name}" if name else "Options before the command")
    table = "".join(line for line in text.splitlines() if line.startswith("| `-"))

    documented = set(re.findall(r"`(--?[a-z][\w-]*)", table)) - {"--help"}

    assert documented == options_of(command, ctx)


def test_every_setting_is_documented() -> None:
    text = read("docs/configuration.md")
    keys = [name for name, _ in all_settings(Settings())]
    keys += [item.name for item in fields(BaseSettings)]

    assert [key for key in keys if f"| `{key}` |" not in text] == []


def test_every_variable_of_the_environment_is_documented() -> None:
    source = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    names = set(re.findall(r"\"(ZHIKU_[A-Z_]+|NO_COLOR|COLUMNS|TERM|LANG|LC_[A-Z]+)\"", source))

    assert "ZHIKU_HOME" in names
    assert [name for name in sorted(names) if f"`{name}`" not in read("docs/configuration.md")] == []


def test_every_error_code_and_exit_code_is_documented() -> None:
    codes = read("docs/cli.md") + read("docs/formats.md")
    table = section(read("docs/cli.md"), "Exit codes")

    assert [kind.code for kind in error_classes() if f"`{kind.code}`" not in codes] == []
    assert [kind.exit_code for kind in error_classes() if f"| {kind.exit_code} |" not in table] == []


def test_every_reason_to_leave_a_file_out_is_documented() -> None:
    text = read("docs/formats.md")
    codes = {*get_args(SkipReason), *RULES}

    assert [code for code in sorted(codes) if f"`{code}`" not in text] == []


def test_every_field_of_the_json_is_documented() -> None:
    text = read("docs/json.md")
    names = [item.name for kind in (Hit, Health) for item in fields(kind) if item.name not in ("marks", "explanation")]

    assert [name for name in names if f"`{name}`" not in text] == []
    assert [code for code in WHY if f"| `{code}` |" not in read("docs/search.md")] == []


def test_every_public_name_is_documented() -> None:
    tree = read("docs/ARCHITECTURE.md")
    text = read("docs/python.md")
    errors = {kind.__name__ for kind in error_classes()}

    assert [name for name in errors if not re.search(rf"\b{name}\b", tree)] == []
    names = set(zhiku.__all__) - errors - {"__version__"}
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", text)] == []


def test_every_dependency_is_documented() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    text = read("docs/dependencies.md")
    needed = [re.split(r"[<>=~!\[; ]", each)[0] for each in project["dependencies"]]
    for_tests = [re.split(r"[<>=~!\[; ]", each)[0] for each in project["optional-dependencies"]["dev"]]

    assert [name for name in needed if f"| {name} |" not in text or f"* **{name}**" not in text] == []
    extra = [re.split(r"[<>=~!\[; ]", each)[0] for each in project["optional-dependencies"]["code"]]
    assert [name for name in for_tests if name not in section(text, "What the tests need")] == []
    assert [name for name in extra if f"| {name} |" not in section(text, "The extra `code`")] == []
    ocr = [re.split(r"[<>=~!\[; ]", each)[0] for each in project["optional-dependencies"]["ocr"]]
    assert [name for name in ocr if f"| {name} |" not in text] == []
    onnx = [re.split(r"[<>=~!\[; ]", each)[0] for each in project["optional-dependencies"]["onnx"]]
    assert [name for name in onnx if f"| {name} |" not in text] == []


# --- the map ---


def test_the_codemap_names_exactly_what_is_there() -> None:
    (codemap,) = [text for text in blocks("docs/ARCHITECTURE.md", "") if text.startswith("src/zhiku/\n")]
    named = re.findall(r"^  ([\w.]+/?) ", codemap, re.MULTILINE)
    folders = [f"{path.name}/" for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"]

    assert sorted(named) == sorted([*folders, *(path.name for path in PACKAGE.glob("*.py"))])


def test_the_layers_name_exactly_the_packages_that_are_there() -> None:
    rows = section(read("docs/ARCHITECTURE.md"), "Layers").split("| --- |")[-1].splitlines()[1:]
    named = {name for row in rows if row.startswith("|") for name in re.findall(r"`(\w+)`", row.split("|")[2])}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}

    assert packages <= named
    assert {name for name in named if not (PACKAGE / name).is_dir()} == {
        name for name in named if (PACKAGE / f"{name}.py").is_file()
    }


# --- pages ---


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(BLOCK.sub("", page.read_text("utf-8"))):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = (page.parent / path).resolve() if path else page
        headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE) if target.is_file() else []
        if not target.exists() or (anchor and anchor not in map(slug, headings)):
            broken.append(link)

    assert broken == []


def test_both_readmes_have_the_same_structure_and_commands() -> None:
    levels = [re.findall(r"^(#+) ", BLOCK.sub("", read(name)), re.MULTILINE) for name in ("README.md", "README.zh.md")]
    links = [
        [link for link in LINK.findall(read(name)) if not link.startswith("README")]
        for name in ("README.md", "README.zh.md")
    ]

    assert levels[0] == levels[1]
    assert links[0] == links[1]
    assert blocks("README.md", "sh", "python") == blocks("README.zh.md", "sh", "python")


# --- what can be run ---


def run(home: Path, *arguments: str, embedder: str = "none") -> subprocess.CompletedProcess[str]:
    told = {"ZHIKU_HOME": str(home), "ZHIKU_LANG": "en", "ZHIKU_EMBEDDER": embedder, "PYTHONIOENCODING": "utf-8"}
    environ = os.environ | told
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        timeout=180,
        check=False,
    )


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    lines = [line for text in blocks("README.md", "sh") for line in text.splitlines() if line.startswith("zhiku ")]
    assert len(lines) > 4

    for line in lines:
        done = run(tmp_path, "-m", "zhiku", *shlex.split(line)[1:], embedder="")
        assert done.returncode == 0, f"{line}: {done.stderr}"
        assert done.stdout, line


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_python_of_the_documentation_runs(page: str, tmp_path: Path) -> None:
    done = run(tmp_path, "-W", "error", "-c", "\n".join(blocks(page, "python")))

    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_settings_of_the_documentation_are_accepted(tmp_path: Path) -> None:
    user, base = blocks("docs/configuration.md", "toml")
    (tmp_path / "config.toml").write_text(user, "utf-8")
    (tmp_path / "bases" / "field").mkdir(parents=True)
    (tmp_path / "bases" / "field" / "base.toml").write_text(base, "utf-8")

    done = run(tmp_path, "-m", "zhiku", "status", "-b", "field")

    assert done.returncode == 0, done.stderr
