"""Lines of terms are read as people write them, and their words are found where they are meant."""

from __future__ import annotations

import pytest

from zhiku.text.analyze import Analyzer
from zhiku.text.glossary import Glossary, find_mentions, merge_glossaries, number_forms, singular
from zhiku.text.glossary_lines import parse_glossary


def glossary(text: str, path: str = "g.md") -> Glossary:
    return parse_glossary(text, path)


def words(text: str, path: str = "g.md") -> list[tuple[str, ...]]:
    return [entry.words for entry in glossary(text, path).entries]


def said(lines: str, text: str) -> list[str]:
    return [mention.said for mention in find_mentions(glossary(lines), text, Analyzer(), frozenset({"who", "it"}))]


@pytest.mark.parametrize(
    "line",
    [
        "门禁系统 = ACS, access control",
        "门禁系统=ACS,access control",
        "门禁系统＝ACS，access control",
        "- 门禁系统 = ACS、access control",
        "\ufeff门禁系统 = ACS, access  control  # since 2024",
        "---\ntitle: terms\n---\n# Terms\n\n门禁系统 = ACS, , access control, ACS\r",
    ],
)
def test_a_line_is_read_however_it_is_written(line: str) -> None:
    assert words(line) == [("门禁系统", "ACS", "access control")]


def test_a_table_has_its_term_in_the_first_column() -> None:
    text = 'term,aliases\n短Q-T间期,short QT interval\n"Louis Vuitton","LV, 路易威登"\n\n# 注释,x\n'
    assert words(text, "g.csv") == [("短Q-T间期", "short QT interval"), ("Louis Vuitton", "LV", "路易威登")]


def test_a_hash_inside_a_word_is_no_comment() -> None:
    assert words("C# = C Sharp") == [("C#", "C Sharp")]


def test_what_is_no_term_is_a_problem_with_its_line_and_the_rest_is_read() -> None:
    read = glossary("A = B\nprose\n= C\nD =\n。。 = E\n\nF = G")
    assert [entry.words for entry in read.entries] == [("A", "B"), ("F", "G")]
    assert [problem.params["line"] for problem in read.problems] == [2, 3, 4, 5]
    assert [entry.line for entry in read.entries] == [1, 7]


@pytest.mark.parametrize("text", ["", "\n\n", "\0", "=" * 9, ",,,", '"', "=,=,=", "、", "#"])
@pytest.mark.parametrize("path", ["g.md", "g.csv"])
def test_rubbish_is_a_problem_and_no_error(text: str, path: str) -> None:
    assert parse_glossary(text, path).entries == ()


@pytest.mark.parametrize(
    "text",
    [
        "短Q-T间期延长",
        "什么是短q-t间期？",
        "short QT intervals",
        "A SHORT  QT\nINTERVAL",
        "ＳＱＴＳ",
    ],
)
def test_a_term_with_digits_hyphens_and_blanks_is_found(text: str) -> None:
    assert len(said("短Q-T间期 = short QT interval, SQTS", text)) == 1


def test_latin_is_found_whole_only_and_han_inside_of_runs() -> None:
    lines = "AI = 人工智能"
    assert said(lines, "maintain the AIR of an e-mail") == []
    assert said(lines, "AI时代") == ["AI"]
    assert said(lines, "新一代人工智能学会") == ["人工智能"]


def test_traditional_characters_and_accents_do_not_matter() -> None:
    assert said("世界卫生组织 = WHO\ncafé = 咖啡馆", "世界衛生組織 Cafe") == ["世界卫生组织", "café"]


def test_the_longest_word_wins_where_words_overlap() -> None:
    assert said("门禁 = gate\n门禁系统 = ACS\n系统 = system", "门禁系统 门禁") == ["门禁系统", "门禁"]


def test_a_single_character_must_stand_alone() -> None:
    assert said("钾 = potassium", "血钾偏低") == []
    assert said("钾 = potassium", "钾 偏低") == ["钾"]


def test_a_word_does_not_reach_across_a_blank_between_han() -> None:
    assert said("海自 = JMSDF", "上海 自来水") == []
    assert said("路易 威登 = LV", "路易 威登 的门店") == ["路易 威登"]


def test_common_english_words_are_meant_only_in_the_capitals_of_the_glossary() -> None:
    assert said("WHO = 世卫组织", "who may open the gate") == []
    assert said("WHO = 世卫组织", "guidance of the WHO") == ["WHO"]


def test_other_words_are_those_of_all_lines_but_what_is_said_already() -> None:
    (lv, shop) = find_mentions(glossary("LV = Louis Vuitton, 路易威登\nLV = 低压\n店 = shop"), "LV shop", Analyzer())
    assert lv.others == ("Louis Vuitton", "路易威登", "低压")
    assert lv.terms == ("lv",)
    assert shop.others == ("店",)
    (one, two) = find_mentions(glossary("LV = Louis Vuitton"), "LV (Louis Vuitton)", Analyzer())
    assert (one.others, two.others) == ((), ())


def test_the_terms_of_a_word_are_those_that_touch_it() -> None:
    (mention,) = find_mentions(glossary("间期 = interval"), "短间期延长", Analyzer())
    assert mention.terms == ("短间", "间期", "期延")


def test_several_files_are_one_glossary() -> None:
    both = merge_glossaries([glossary("A1 = B1\nx", "a.md"), glossary("A1 = C1", "b.md")])
    assert [entry.path for entry in both.entries] == ["a.md", "b.md"]
    assert (both.paths, len(both.problems), len(both)) == (("a.md", "b.md"), 1, 2)
    assert find_mentions(both, "a1", Analyzer())[0].others == ("B1", "C1")


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("network", "networks"),
        ("policy", "policies"),
        ("class", "classes"),
        ("box", "boxes"),
        ("day", "days"),
    ],
)
def test_singular_and_plural_find_each_other(one: str, many: str) -> None:
    assert singular(many) == singular(one)
    assert many in number_forms(one)


@pytest.mark.parametrize("word", ["status", "basis", "gas", "glass", "bus"])
def test_an_s_is_no_plural_by_itself(word: str) -> None:
    assert singular(word) == word
