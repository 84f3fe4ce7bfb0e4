"""The command `zhiku personas`, in a process of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Cli


def test_personas_are_listed_with_what_they_see(cli: Cli) -> None:
    assert "There is no persona yet" in cli("personas").stderr
    cli.write("a.md", "A pump.\n")
    cli("index", str(cli.docs), "-b", "notes", "--no-embed")
    for name, text in {"mei": "## visible_domains\n- Notes\n- gone\n", "works": "# Nothing\n"}.items():
        (cli.home / "personas" / name).mkdir(parents=True)
        (cli.home / "personas" / name / "profile.md").write_text(text)

    done = cli("personas", env={"ZHIKU_DEFAULT_PERSONA": "MEI"})
    assert done.returncode == 0
    assert done.stdout == "persona        sees\nmei (default)  notes\nworks          (nothing)\n"
    assert "names bases that do not exist: gone" in done.stderr
    assert "persona 'works' sees no base: its profile has no section" in done.stderr

    told = json.loads(cli("personas", "--format", "json").stdout)
    assert told["default"] is None
    assert [(p["name"], p["visible"], p["unknown"]) for p in told["personas"]] == [
        ("mei", ["notes"], ["gone"]),
        ("works", [], []),
    ]
    assert "which is no persona" in cli("personas", env={"ZHIKU_DEFAULT_PERSONA": "nobody"}).stderr
    assert "能看到" in cli("personas", env={"ZHIKU_LANG": "zh"}).stdout
