"""What text becomes in the index and in queries."""

from __future__ import annotations

import pytest

from zhiku.text.analyze import MAX_TOKEN_CHARS, Analyzer


def tokens(text: str) -> list[str]:
    return Analyzer().tokens(text)


def terms(text: str) -> list[str]:
    return [term for run in Analyzer().runs(text) for term in run.terms]


def test_a_han_run_becomes_pairs_with_its_last_character_behind_them() -> None:
    assert tokens("召回率") == ["召回", "回率", "率"]


def test_a_single_han_character_is_a_token() -> None:
    assert tokens("雨") == ["雨"]


@pytest.mark.parametrize(("text", "expected"), [("ガス", ["ガス", "ス"]), ("가나다", ["가나", "나다", "다"])])
def test_kana_and_hangul_are_cut_like_han(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_a_change_between_latin_and_han_ends_a_token() -> None:
    assert tokens("用Python写") == ["用", "python", "写"]


def test_punctuation_ends_a_han_run() -> None:
    assert tokens("甲乙，丙丁") == ["甲乙", "乙", "丙丁", "丁"]


@pytest.mark.parametrize("word", ["C++", "C#", "GPT-4o", "K8s", "3.11", "std::vector", "don't", "AT&T", ".NET", "a_b"])
def test_names_with_marks_are_tokens_of_their_own(word: str) -> None:
    assert word.lower() in tokens(f"see {word}, then")


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("gate-sync", ["gate", "sync"]),
        ("fooBar", ["foo", "bar"]),
        ("HTTPServer", ["http", "server"]),
        ("snake_case", ["snake", "case"]),
        ("std::vector", ["std", "vector"]),
        ("user@host.org", ["user", "host", "org"]),
    ],
)
def test_the_parts_of_an_identifier_stand_beside_it(word: str, parts: list[str]) -> None:
    assert tokens(word) == [word.lower(), *parts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,200", ["1200", "200"]),
        ("１，２００", ["1200", "200"]),
        ("¥1,200.50元", ["1200.50", "1200", "200", "50", "元"]),
        ("$1,234,567", ["1234567", "234", "567"]),
        ("10,000-20,000", ["10000-20000", "10000", "10", "000", "20000", "20"]),
    ],
)
def test_a_number_with_commas_between_its_thousands_is_also_one_without(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    "text",
    ["1,2,3", "1,200,3", "12,1,200", "12345,200", "0,123", "1.5,200,300", "v1,200", "1,2000", "1,,200"],
)
def test_other_numbers_between_commas_are_a_list(text: str) -> None:
    assert tokens(text) == tokens(text.replace(",", ", "))


def test_an_english_word_stands_beside_its_stem() -> None:
    assert tokens("running tests") == ["running", "run", "tests", "test"]


def test_a_word_is_asked_for_by_its_stem_alone() -> None:
    assert terms("running tests") == ["run", "test"]


def test_a_han_run_is_asked_for_without_its_last_character_alone() -> None:
    assert terms("召回率") == ["召回", "回率"]
    assert terms("雨") == ["雨"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Résumé", "re\u0301sume\u0301"),
        ("ＧＰＴ－４", "gpt-4"),
        ("開通網絡", "开通网络"),
        ("don’t", "don't"),
        ("⽔力", "水力"),
        ("STRASSE", "straße"),
    ],
)
def test_spellings_of_one_word_have_a_token_in_common(one: str, other: str) -> None:
    assert set(tokens(one)) & set(tokens(other))


def test_a_word_without_its_accents_is_found_too() -> None:
    assert "resume" in tokens("Résumé")


def test_no_token_is_longer_than_the_limit_and_none_is_lost() -> None:
    found = tokens("x" * 1000)

    assert max(map(len, found)) == MAX_TOKEN_CHARS
    assert "".join(found[:-1]) + found[-1] == "x" * (len("".join(found)))


@pytest.mark.parametrize("text", ["", "   ", "()*\"'%\\", "——……", "😀"])
def test_text_without_letters_has_no_tokens(text: str) -> None:
    assert tokens(text) == []


def test_spans_say_where_in_the_text_as_written_a_token_stands() -> None:
    text = "見 Re\u0301sume\u0301，召回"
    spans = {token: text[start:end] for token, start, end in Analyzer().spans(text)}

    assert spans["résumé"] == "Re\u0301sume\u0301"
    assert (spans["见"], spans["召回"], spans["回"]) == ("見", "召回", "回")


@pytest.mark.parametrize("text", ["甲，乙：丙；丁！", "（foo）……［bar］？", "a～b，c：d "])
def test_full_width_marks_separate_words_in_long_and_short_texts_alike(text: str) -> None:
    assert tokens(text * 100) == tokens(text) * 100


def test_the_memory_of_words_changes_nothing() -> None:
    analyzer = Analyzer()
    assert analyzer.tokens("Gate-sync fooBar") == analyzer.tokens("Gate-sync fooBar") == tokens("Gate-sync fooBar")


@pytest.mark.parametrize(
    "text", ["The Gate-Sync opens fooBar and Dying batteries", "雨量筒校准 gate 雨", "Éclair ＧＡＴＥ don't C++"]
)
def test_the_spans_of_wanted_tokens_are_those_among_all(text: str) -> None:
    analyzer = Analyzer()
    every = list(analyzer.spans(text))
    for token in {token for token, _, _ in every}:
        wanted = frozenset({token})
        assert list(analyzer.spans(text, wanted)) == [span for span in every if span[0] == token]
    assert list(analyzer.spans(text, frozenset({"zebra"}))) == []
