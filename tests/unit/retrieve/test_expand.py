"""A base's glossary finds what the words of a question do not, and takes nothing from what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

import fakes
from fakes import FakeEmbedder
from shelf import Shelf
from zhiku.answer import Answer, Query
from zhiku.retrieve.expand import ALIAS_WEIGHT, MAX_ALIASES, expand
from zhiku.text.analyze import Analyzer
from zhiku.text.glossary_lines import parse_glossary

TEXTS = {
    "ecg.md": "心电图示短Q-T间期，建议复查。",
    "en.md": "The short QT interval was noted in two patients.",
    "decoy.md": "Q 版头像与 T 恤尺码表，间期安排。",
    "shop.md": "Louis Vuitton 门店营业时间调整。",
    "other.md": "今天食堂的门店菜单。",
    "vitamins.md": "每天一次，维生素C片剂随餐。",
    "networks.md": "Neural networks are trained on many texts; a network alone is none.",
    "access.md": "控制与访问，两件事。The access to a control room.",
}
TERMS = """\
短Q-T间期 = short QT interval
Louis Vuitton = LV
维生素C片 = ascorbic acid
神经网络 = neural network
门禁系统 = access control
"""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    made = Shelf(tmp_path_factory.mktemp("expand"))
    for path, text in TEXTS.items():
        made.write(path, text)
    made.index()
    made.base.folder.joinpath("glossary.md").write_text(TERMS, "utf-8")
    return made


def why(answer: Answer) -> dict[str, tuple[str, ...]]:
    return {hit.path: hit.why for hit in answer}


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("短Q-T间期", "en.md"),
        ("short QT intervals", "ecg.md"),
        ("LV门店", "shop.md"),
        ("ascorbic acid", "vitamins.md"),
        ("神经网络", "networks.md"),
    ],
)
def test_either_side_of_a_line_finds_the_other(shelf: Shelf, query: str, path: str) -> None:
    answer = shelf.search(query)
    assert "glossary" in why(answer)[path]
    assert "glossary" not in why(shelf.search(query, expand=False)).get(path, ())


def test_an_alias_is_one_phrase_and_no_loose_words(shelf: Shelf) -> None:
    assert shelf.found("门禁系统") == []


def test_an_alias_counts_less_than_the_word_that_was_asked_for(shelf: Shelf) -> None:
    said, named, *_ = shelf.search("短Q-T间期")
    assert (said.path, named.path) == ("ecg.md", "en.md")
    assert 0 < named.score <= ALIAS_WEIGHT * said.score * 1.05
    assert shelf.search("LV门店").hits[0].path == "shop.md"


def test_the_alias_is_marked_where_it_stands(shelf: Shelf) -> None:
    (hit,) = (hit for hit in shelf.search("短Q-T间期") if hit.path == "en.md")
    assert [hit.text[start:end] for start, end in hit.marks] == ["short QT interval"]
    (hit,) = (hit for hit in shelf.search("ascorbic acid") if hit.path == "vitamins.md")
    assert [hit.text[start:end] for start, end in hit.marks] == ["维生素C片"]


def test_what_was_added_is_told(shelf: Shelf) -> None:
    assert shelf.search("LV门店").explanation["added"] == {"default": {"LV": ["Louis Vuitton"]}}
    assert shelf.search("LV门店", expand=False).explanation["added"] == {}
    assert shelf.search("门店").explanation["added"] == {}


def test_a_query_without_a_term_is_answered_as_without_a_glossary(shelf: Shelf) -> None:
    for query in ("门店", "patients", "间期安排", "network"):
        assert shelf.search(query).hits == shelf.search(query, expand=False).hits


def test_words_of_the_query_keep_their_scores(shelf: Shelf) -> None:
    plain = {hit.path: hit.score for hit in shelf.search("短Q-T间期", expand=False)}
    assert {hit.path: hit.score for hit in shelf.search("短Q-T间期") if hit.path in plain} == plain


def test_each_base_has_words_of_its_own(tmp_path: Path) -> None:
    made = Shelf(tmp_path)
    for name in ("a", "b"):
        made.write(f"{name}/1.md", "Louis Vuitton 的目录")
        made.write(f"{name}/2.md", "别的内容，与此无关")
        made.index(made.docs / name, name=name)
    made.library.open("a").folder.joinpath("glossary.md").write_text("LV = Louis Vuitton", "utf-8")
    answer = made.search("LV")
    assert [(hit.base, hit.path) for hit in answer] == [("a", "1.md")]
    assert answer.explanation["added"] == {"a": {"LV": ["Louis Vuitton"]}}


def test_two_bases_with_a_glossary_rank_as_one_that_holds_both(tmp_path: Path) -> None:
    together, apart = Shelf(tmp_path / "together"), Shelf(tmp_path / "apart")
    for shelf in (together, apart):
        for i, (path, text) in enumerate(TEXTS.items()):
            shelf.write(f"{'ab'[i % 2]}/{path}", text)
    for part in ("a", "b"):
        together.index(together.docs / part)
        apart.index(apart.docs / part, name=part)
        apart.library.open(part).folder.joinpath("glossary.md").write_text(TERMS, "utf-8")
    together.base.folder.joinpath("glossary.md").write_text(TERMS, "utf-8")
    for query in ("短Q-T间期", "short QT interval", "LV门店", "Louis Vuitton 门店", "神经网络 训练"):
        assert [(hit.text, hit.score) for hit in apart.search(query)] == [
            (hit.text, hit.score) for hit in together.search(query)
        ]


def test_a_document_that_is_named_otherwise_is_relevant_for_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = FakeEmbedder()
    fakes.install(monkeypatch, embedder)
    monkeypatch.setenv("ZHIKU_EMBEDDER", embedder.name)
    made = Shelf(tmp_path)
    for path, text in TEXTS.items():
        made.write(path, text)
    made.library.index([made.docs])
    terms = made.base.folder / "glossary.md"
    before = {hit.path: hit for hit in made.base.search("LV 门店")}
    terms.write_text(TERMS, "utf-8")
    after = {hit.path: hit for hit in made.base.search("LV 门店")}
    shop, other = after["shop.md"], after["other.md"]
    assert "glossary" in shop.why
    assert before["shop.md"].explanation["share"] < shop.explanation["share"] < 1
    assert other.explanation["share"] == before["other.md"].explanation["share"]
    assert other.relevance == before["other.md"].relevance


def test_a_search_by_meaning_alone_asks_no_glossary() -> None:
    assert not Query(text="x", mode="semantic").asks_glossaries
    assert not Query(text="x", expand=False).asks_glossaries
    assert Query(text="x").asks_glossaries


def test_a_pasted_page_does_not_ask_for_everything() -> None:
    lines = [f"term{i} = alias{i}, other{i}" for i in range(500)]
    text = " ".join(f"term{i}" for i in range(500))
    (added,) = expand(text, {"base": parse_glossary("\n".join(lines), "g.md")}, Analyzer()).values()
    assert sum(len(each.aliases) for each in added) == MAX_ALIASES
    assert added[0].said == "term0"
