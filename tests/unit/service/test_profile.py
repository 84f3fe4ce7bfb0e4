import pytest

from zhiku.service.profile import parse_profile


def bases(text: str) -> tuple[str, ...]:
    return parse_profile(text, "p").bases


def problems(text: str) -> list[str]:
    return [problem.message for problem in parse_profile(text, "p").problems]


def test_the_items_below_the_section_are_what_is_visible() -> None:
    text = (
        "# Me\n\n- not-this\n\n## visible_domains\n\n- notes\n* 论文\n  + Work_2 \n\n- NOTES\n\n## Tone\n\n- nor-this\n"
    )
    assert bases(text) == ("notes", "论文", "Work_2")
    assert problems(text) == []


@pytest.mark.parametrize("heading", ["## visible_domains", "##  Visible_Domains ##", "   ##\tvisible_domains\t"])
def test_the_heading_may_be_written_as_markdown_lets_it(heading: str) -> None:
    assert bases(f"{heading}\n- a\n") == ("a",)


@pytest.mark.parametrize(
    "heading",
    ["# visible_domains", "### visible_domains", "##visible_domains", "    ## visible_domains", "visible_domains"],
)
def test_another_heading_makes_nothing_visible(heading: str) -> None:
    assert bases(f"{heading}\n- a\n") == ()
    assert problems(f"{heading}\n- a\n") == ["persona 'p' sees no base: its profile has no section ## visible_domains."]


def test_the_section_ends_at_any_heading() -> None:
    assert bases("## visible_domains\n- a\n### b\n- c\n# d\n- e\n") == ("a",)


def test_what_is_commented_out_or_an_example_makes_nothing_visible() -> None:
    assert bases("## visible_domains\n- a\n<!--\n- b\n-->\n- c <!-- not d -->\n```\n- e\n```\n- f\n") == ("a", "c", "f")
    assert bases("```\n## visible_domains\n- a\n```\n- b\n") == ()
    assert bases("## visible_domains\n- a\n<!-- forgotten\n- b\n") == ("a",)


def test_lines_that_name_no_base_are_told_with_their_numbers() -> None:
    assert problems("## visible_domains\r\n\r\n- ../x\r\nnotes, papers\r\nnotes\r\n- a\r\n") == [
        "line 3 of the profile of persona 'p' names no base: '../x' cannot be the name of one.",
        "line 4 of the profile of persona 'p' is no item of a list.",
        "line 5 of the profile of persona 'p' is no item of a list.",
    ]


def test_an_empty_section_is_told() -> None:
    assert problems("## visible_domains\n") == [
        "persona 'p' sees no base: its profile names none below ## visible_domains."
    ]
