import subprocess
import sys
from pathlib import Path

import pytest

import zhiku
from zhiku.errors import NotFound

HEAVY = ("apsw", "click", "yaml", "zhiku.answer", "zhiku.errors", "zhiku.service", "dataclasses", "pathlib")


def test_importing_zhiku_imports_nothing_heavy() -> None:
    code = f"import sys, zhiku; print([name for name in {HEAVY} if name in sys.modules])"
    # Without site, which may import what it likes.
    path = str(Path(zhiku.__file__).parents[1])
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {path!r}); {code}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("name", zhiku.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(zhiku, name)
    assert name in dir(zhiku)
    assert name == "__version__" or value.__doc__


def test_every_error_is_public() -> None:
    errors = {name for name, value in vars(zhiku.errors).items() if isinstance(value, type)}
    assert errors <= set(zhiku.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        zhiku.nothing  # noqa: B018


def test_a_base_is_made_asked_and_read(tmp_path: Path) -> None:
    home, docs = tmp_path / "home", tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# 水泵\n\n密封圈每年上油。\n")
    (report,) = zhiku.index(docs, "notes", home=home)
    assert report.report.added == 1
    answer = zhiku.open("notes", home=home).search("密封圈")
    assert [hit.path for hit in answer] == ["a.md"]
    assert zhiku.search("密封圈", "notes", home=home).hits == answer.hits
    assert zhiku.parse_locator(answer.hits[0].locator).base == "notes"
    assert zhiku.open("notes", home=home).read("a.md").text.startswith("水泵\n")


def test_a_library_root_is_synced(tmp_path: Path) -> None:
    home, docs = tmp_path / "home", tmp_path / "docs"
    (docs / "notes").mkdir(parents=True)
    (docs / "notes" / "a.md").write_text("valve\n")
    assert [base.count("added") for base in zhiku.sync(docs, "notes", home=home).bases] == [1]
    assert zhiku.sync([docs], home=home).is_complete


def test_opening_a_base_that_is_not_there_makes_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no base named 'notes'"):
        zhiku.open("notes", home=tmp_path)
    assert not list(tmp_path.iterdir())
