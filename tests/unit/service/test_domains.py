import pytest

from zhiku.service.domains import NamedFolder, parse_domains


def named(text: str) -> dict[str, str]:
    domains = parse_domains(text, "_domains.md")
    assert domains.problems == ()
    return {line.folder: line.base for line in domains.named.values()}


@pytest.mark.parametrize(
    "text",
    [
        "my notes = notes\n",
        "my notes=notes",
        "\ufeffmy notes = notes\r\n",
        "# what is what\n\n  - my notes   =   notes  # those of 2024\n",
        "my notes = notes # a = b",
    ],
)
def test_a_line_names_the_base_of_a_folder(text: str) -> None:
    assert named(text) == {"my notes": "notes"}


def test_the_name_of_a_folder_may_hold_what_a_base_cannot() -> None:
    assert named("a = b = c\nC# = csharp\n- #inbox = inbox\n- - x = x\n第一 册 = 一\n") == {
        "a = b": "c",
        "C#": "csharp",
        "#inbox": "inbox",
        "- x": "x",
        "第一 册": "一",
    }


@pytest.mark.parametrize("line", ["notes", "= notes", "notes =", "notes = # nothing", "notes: n", "---", "- ="])
def test_a_line_that_says_something_else_is_a_problem_with_its_number(line: str) -> None:
    domains = parse_domains(f"# first\n{line}\ngood = g\n", "/kb/_domains.md")
    (problem,) = domains.problems
    assert problem.message.startswith("/kb/_domains.md, line 2: ")
    assert problem.hint == "write it as: FOLDER = NAME"
    assert [line.base for line in domains.named.values()] == ["g"]


def test_of_two_lines_about_a_folder_the_first_holds_and_the_second_is_a_problem() -> None:
    domains = parse_domains("a = one\na = two\n", "_domains.md")
    (problem,) = domains.problems
    assert problem.message == "_domains.md, line 2: folder 'a' is named in line 1 already."
    assert domains.named["a"].base == "one"


def test_a_folder_is_found_in_any_normal_form() -> None:
    domains = parse_domains("Cafe\u0301 = c\n", "_domains.md")
    assert domains.of("Café") == domains.of("Cafe\u0301") == NamedFolder("Café", "c", 1)
    assert domains.of("café") is None


@pytest.mark.parametrize("folder", ["plain", "a = b", "#inbox", "- x", "-x"])
def test_a_line_reads_back_as_it_is_written(folder: str) -> None:
    assert named(str(NamedFolder(folder, "n", 1))) == {folder: "n"}
