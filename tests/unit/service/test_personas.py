import os
import sys
from pathlib import Path

import pytest

from shelf import Shelf
from zhiku.answer import Query
from zhiku.errors import ConfigError, NotFound, UsageError
from zhiku.service.personas import MAX_PROFILE_BYTES, Personas, personas_of

PUMP = Query(text="pump", mode="lexical")


@pytest.fixture
def shelf(shelf: Shelf) -> Shelf:
    for name in ("open", "other"):
        shelf.write(f"{name}/{name}.md", "A pump.\n")
        shelf.index(shelf.docs / name, name=name)
    return shelf


def personas(shelf: Shelf, **environ: str) -> Personas:
    return personas_of(shelf.library, environ)


def declare(shelf: Shelf, name: str, *bases: str) -> Path:
    folder = shelf.library.home / "personas" / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "profile.md"
    file.write_text("# Who\n\n## visible_domains\n\n" + "".join(f"- {base}\n" for base in bases), "utf-8")
    return file


def why(shelf: Shelf, name: str) -> str:
    """Return why a persona sees nothing."""
    with pytest.raises((NotFound, ConfigError)) as caught:
        personas(shelf).view(name).search(PUMP)
    assert personas(shelf).view(name).names() == []
    return caught.value.message


def test_a_persona_sees_the_bases_that_its_profile_names(shelf: Shelf) -> None:
    declare(shelf, "mei", "OPEN", "nobody")
    persona = personas(shelf).persona("Mei")
    assert (persona.name, persona.visible, persona.unknown, persona.problems) == ("mei", ("open",), ("nobody",), ())
    assert [hit.base for hit in personas(shelf).view("mei").search(PUMP)] == ["open"]


def test_edits_apply_at_once(shelf: Shelf) -> None:
    known = personas(shelf)
    file = declare(shelf, "mei", "open")
    assert known.view("mei").names() == ["open"]
    declare(shelf, "mei", "other")
    assert known.view("mei").names() == ["other"]
    file.unlink()
    assert known.view("mei").names() == []


def test_what_keeps_a_persona_from_seeing_anything_is_said(shelf: Shelf) -> None:
    file = declare(shelf, "mei")
    assert "names none below ## visible_domains" in why(shelf, "mei")
    file.write_text("# Who\n")
    assert "no section" in why(shelf, "mei")
    declare(shelf, "mei", "nobody", "nowhere")
    assert why(shelf, "mei").endswith("do not exist (nobody, nowhere).")
    file.write_bytes("## visible_domains\n- 论文\n".encode("gb18030"))
    assert "is not UTF-8" in why(shelf, "mei")
    file.write_text("## visible_domains\n- open\n" + " " * MAX_PROFILE_BYTES)
    assert "is larger than" in why(shelf, "mei")
    file.unlink()
    assert "cannot be read" in why(shelf, "mei")
    file.mkdir()
    assert "cannot be read" in why(shelf, "mei")


@pytest.mark.skipif(sys.platform == "win32", reason="a FIFO has no name in a folder there")
def test_a_profile_that_is_no_file_is_not_waited_for(shelf: Shelf) -> None:
    file = declare(shelf, "mei", "open")
    file.unlink()
    os.mkfifo(file)
    assert "Not a regular file" in why(shelf, "mei")


def test_a_profile_may_begin_with_a_byte_order_mark(shelf: Shelf) -> None:
    declare(shelf, "mei", "open").write_bytes(b"\xef\xbb\xbf## visible_domains\r\n- open\r\n")
    assert personas(shelf).view("mei").names() == ["open"]


@pytest.mark.parametrize("name", ["../outside", "..", ".hidden", "/", "mei/../mei", "mei\0", "", " "])
def test_a_name_is_no_path(shelf: Shelf, name: str) -> None:
    declare(shelf, "mei", "open")
    declare(shelf, ".hidden", "open")
    declare(shelf, "../outside", "open")
    with pytest.raises((NotFound, UsageError)):
        personas(shelf).view(name)
    with pytest.raises(NotFound):
        personas(shelf).view(str(shelf.library.home / "personas" / "mei"))
    assert personas(shelf).names() == ["mei"]


def test_a_folder_whose_name_is_no_name_sees_nothing(shelf: Shelf) -> None:
    declare(shelf, "mei li", "open")
    assert why(shelf, "mei li") == "'mei li' cannot be the name of a persona."


def test_a_link_may_not_lead_out_of_the_folder_of_personas(shelf: Shelf) -> None:
    mine = declare(shelf, "mei", "open")
    outside = declare(shelf, "../outside", "open")
    (mine.parents[1] / "folder").symlink_to(outside.parent, target_is_directory=True)
    declare(shelf, "file").unlink()
    (mine.parents[1] / "file" / "profile.md").symlink_to(outside)
    (mine.parents[1] / "alias").symlink_to(mine.parent, target_is_directory=True)
    assert "leads out of" in why(shelf, "folder")
    assert "leads out of" in why(shelf, "file")
    assert personas(shelf).view("alias").names() == ["open"]


def test_a_name_in_any_case_and_normal_form_means_the_persona(shelf: Shelf) -> None:
    declare(shelf, "Zoé", "open")
    assert personas(shelf).persona("zoe\u0301").name == "Zoé"
    with pytest.raises(NotFound, match="did you mean 'Zoé'"):
        personas(shelf).persona("Zo")


def test_where_none_is_named_the_default_is_meant(shelf: Shelf) -> None:
    declare(shelf, "mei", "open")
    assert personas(shelf, ZHIKU_DEFAULT_PERSONA="MEI").view().names() == ["open"]
    with pytest.raises(UsageError, match="there is: mei"):
        personas(shelf).view()
    with pytest.raises(NotFound, match="no persona named 'nobody'"):
        personas(shelf, ZHIKU_DEFAULT_PERSONA="nobody").view()


def test_their_folder_may_be_another(shelf: Shelf, tmp_path: Path) -> None:
    assert personas(shelf, ZHIKU_PERSONA_DIR=str(tmp_path / "none")).names() == []
    file = tmp_path / "voices" / "mei" / "profile.md"
    file.parent.mkdir(parents=True)
    file.write_text("## visible_domains\n- other\n")
    assert personas(shelf, ZHIKU_PERSONA_DIR=str(tmp_path / "voices")).view("mei").names() == ["other"]
