"""Two libraries that differ in one base: what may not see it must not tell them apart."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shelf import Shelf
from zhiku.errors import ZhikuError
from zhiku.service.library import Library
from zhiku.service.personas import personas_of
from zhiku.service.view import View

Asked = Callable[[View], Any]

SEEN = {
    "notes": {"pump.md": "# Pumps\n\nThe seal of the pump.\n\n水泵的密封圈。\n", "sub/valve.md": "A valve, a pump.\n"}
}
SEEN |= {"papers": {"wind.txt": "Wind at the pump house.\n", "pump.md": "Another pump.\n"}}
HIDDEN = {"vault": {"pump.md": "The seal of the vault.\n", "key.md": "# Keys\n\n密封圈的钥匙 is zebra.\n"}}
WORDS = ["pump", "seal", "zebra", "密封圈", "vault", "钥匙", "key.md", "wind", "*", "?", "e"]
PATHS = ["pump.md", "key.md", "vault/key.md", "valve.md", "../vault/key.md", "vault", "pum.md", "keys.md"]
PERSONA = "mei"


class Doubles:
    """Two libraries that differ in a base that a persona does not see, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        docs = Shelf(folder / "with")
        for base, files in {**SEEN, **HIDDEN}.items():
            for path, text in files.items():
                docs.write(f"{base}/{path}", text)
            docs.index(docs.docs / base, name=base)
        home = docs.library.home
        profile = home / "personas" / PERSONA / "profile.md"
        profile.parent.mkdir(parents=True)
        profile.write_text("## visible_domains\n- notes\n- papers\n- nobody\n")
        shutil.copytree(home, folder / "without" / "home", ignore=lambda _, names: set(HIDDEN) & set(names))
        self.libraries = [docs.library, Library(folder / "without" / "home")]
        self.views = [personas_of(library, {}).view(PERSONA) for library in self.libraries]

    def answers(self, ask: Asked) -> list[str]:
        """Return what both say, without where they are and how long it took."""
        return [self.told(view, ask) for view in self.views]

    def told(self, view: View, ask: Asked) -> str:
        """Return what a view says, likewise."""
        try:
            answer = ask(view)
            told = answer.to_dict() if hasattr(answer, "to_dict") else list(map(repr, answer))
        except ZhikuError as error:
            told = [error.code, str(error)]
        if isinstance(told, dict) and "health" in told:
            del told["health"]["elapsed_ms"]
        return self.placeless(repr(told))

    def placeless(self, text: str) -> str:
        """Return a text without where the libraries are."""
        return text.replace(str(self.folder / "without"), str(self.folder / "with"))
