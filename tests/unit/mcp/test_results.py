"""What the default tools answer: within bounds, with a way to the rest, and honest about what they did not see."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from endpoints import reranked, serving
from fakes import FakeEmbedder, install
from shelf import Shelf
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import BadCall
from zhiku.mcp.toolsets import DEFAULT_SET, tools_of

TOOLS = {tool.name: tool for tool in tools_of([DEFAULT_SET])}
CAP = 20_000


class Agent:
    """Calls the default tools over a library; every result must fit its schema."""

    def __init__(self, shelf: Shelf) -> None:
        self.sight = Sight(library=shelf.library)
        self.text = ""
        self.chars = 0

    def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        tool = TOOLS[name]
        reply = tool.run(self.sight, **tool.arguments(arguments))
        data = tool.json_of(reply.data)
        jsonschema.validate(data, tool.output_schema)
        self.text = reply.text
        self.chars = len(reply.text) + len(json.dumps(data, ensure_ascii=False))
        return data


@pytest.fixture
def agent(shelf: Shelf) -> Agent:
    return Agent(shelf)


# --- bounds ---


def write_manuals(shelf: Shelf) -> None:
    """Index the documents of B57."""
    for i in range(40):
        shelf.write(f"m{i:02d}.md", f"# 手册{i}\n\n" + "检查油位与螺栓，记录读数。" * 310 + "\n")
    shelf.index()


def test_a_search_for_a_common_word_stays_within_bounds_and_says_what_it_left_out(shelf: Shelf, agent: Agent) -> None:
    write_manuals(shelf)

    found = agent("kb_search", query="检查", top_k=20)

    assert agent.chars <= CAP
    assert found["total"] == 20
    assert 1 < found["shown"] < 20
    assert [bool(hit.get("text")) for hit in found["hits"]] == [True] * found["shown"] + [False] * (20 - found["shown"])
    assert f"only {found['shown']} of 20" in agent.text
    for hit in found["hits"][-2:]:
        assert "检查" in agent("kb_read", locator=hit["locator"])["text"]


def test_a_long_passage_is_cut_around_the_words_and_marked(shelf: Shelf, agent: Agent) -> None:
    shelf.write("long.md", "First words. " + "alpha " * 200 + "the needle " + "omega " * 30)
    shelf.index()

    hit = agent("kb_search", query="needle")["hits"][0]

    assert hit["cut"] is True
    assert "needle" in hit["text"]
    assert hit["text"].startswith("…")
    assert len(hit["text"]) <= 1_202
    assert "First words." in agent("kb_read", locator=hit["locator"])["text"]


@pytest.mark.parametrize("max_chars", [1_000, 3_000, 50_000])
def test_the_bound_can_be_set(shelf: Shelf, agent: Agent, max_chars: int) -> None:
    write_manuals(shelf)

    agent("kb_search", query="检查", top_k=50, max_chars=max_chars)

    assert agent.chars <= max_chars


def test_a_document_is_read_to_its_end_part_by_part(shelf: Shelf, agent: Agent) -> None:
    text = "\n".join(f'Line {i} says "{"检查" * (i % 40)}".' for i in range(2_000))
    shelf.write("long.txt", text)
    shelf.index()
    parts = [agent("kb_read", path="long.txt")]
    while after := parts[-1].get("next"):
        assert agent.chars <= CAP
        assert after in agent.text
        parts.append(agent("kb_read", locator=after))

    assert len(parts) > 5
    assert "\n".join(part["text"] for part in parts) == text
    assert [part["line_start"] for part in parts[1:]] == [part["line_end"] + 1 for part in parts[:-1]]


@settings(max_examples=15, deadline=None)
@given(st.text(st.sampled_from('检查 a"\\\t。'), min_size=20, max_size=300), st.integers(20, 90))
def test_one_endless_line_is_read_whole_too(tmp_path_factory: pytest.TempPathFactory, unit: str, times: int) -> None:
    shelf = Shelf(tmp_path_factory.mktemp("line"))
    text = f"x{unit * times}x"
    shelf.write("line.txt", text)
    shelf.index()
    agent = Agent(shelf)
    parts = [agent("kb_read", path="line.txt", max_chars=5_000)]
    while after := parts[-1].get("next"):
        assert agent.chars <= 5_000
        parts.append(agent("kb_read", locator=after, max_chars=5_000))

    assert "".join(part["text"] for part in parts) == text


@pytest.mark.parametrize("width", [1, 7, 40])
def test_short_lines_stay_within_bounds_too(shelf: Shelf, agent: Agent, width: int) -> None:
    shelf.write("lines.txt", "\n".join("检" * width for _ in range(9_000)))
    shelf.index()

    part = agent("kb_read", path="lines.txt")

    assert CAP - 500 < agent.chars <= CAP
    assert part["cut"] is True


def test_grep_goes_on_where_it_stopped(shelf: Shelf, agent: Agent) -> None:
    shelf.write("a.txt", "\n".join(f"pump {i}" for i in range(120)))
    shelf.index()

    first = agent("kb_grep", keyword="pump")
    second = agent("kb_grep", keyword="pump", offset=first["next_offset"])
    third = agent("kb_grep", keyword="pump", offset=second["next_offset"])

    assert [line["line"] for part in (first, second, third) for line in part["lines"]] == list(range(1, 121))
    assert "next_offset" not in third


def test_grep_stays_within_bounds(shelf: Shelf, agent: Agent) -> None:
    shelf.write("a.txt", "\n".join(f'"检查" {i} ' + "读数。" * 90 for i in range(300)))
    shelf.index()

    found = agent("kb_grep", keyword="检查", max_lines=300)

    assert agent.chars <= CAP
    assert len(found["lines"]) == found["next_offset"] > 10


def test_a_list_of_bases_is_bounded(shelf: Shelf, agent: Agent) -> None:
    shelf.write("a.md", "Pumps.")
    for i in range(5):
        shelf.index(name=f"base{i}")
    settings_file = shelf.library.home / "bases" / "base1" / "base.toml"
    settings_file.write_text(f'intro = "{"About pumps. " * 20}"\n', "utf-8")

    found = agent("kb_list", max_items=2)

    assert found["total"] == 5
    assert [base["name"] for base in found["bases"]] == ["base0", "base1"]
    assert len(found["bases"][1]["intro"]) == 120
    assert "3 more" in agent.text
    assert [base["name"] for base in agent("kb_list", name_keyword="E3")["bases"]] == ["base3"]


def test_many_bases_with_long_names_and_paths_stay_within_bounds(shelf: Shelf, agent: Agent) -> None:
    path = "/".join("深" * 40 for _ in range(4)) + ".md"
    shelf.write(path, "\n\n".join(f"# {'标题' * 90}{i}\n\n{'水泵' * 200}" for i in range(20)))
    for i in range(24):
        name = "名" * 50 + str(i)
        shelf.index(name=name)
        settings_file = shelf.library.home / "bases" / name / "base.toml"
        settings_file.write_text(f'roots = ["{"/没有" * 60}"]\nintro = "{"简介" * 400}"\n', "utf-8")
        if i % 2:
            shelf.library.open(name).close()
            (shelf.library.home / "bases" / name / "index.sqlite3").write_bytes(b"no index at all" * 999)

    calls: list[tuple[str, dict[str, Any]]] = [
        ("kb_search", {"query": "水泵", "top_k": 100}),
        ("kb_search", {"query": "zebra"}),
        ("kb_grep", {"keyword": "水泵", "max_lines": 500}),
        ("kb_read", {"path": path, "base": "名" * 50 + "0"}),
        ("kb_list", {"max_items": 200, "intro_max_chars": 1_000}),
        ("kb_coverage", {"topic": "水泵"}),
    ]
    for name, arguments in calls:
        agent(name, **arguments)
        assert agent.chars <= CAP, name


# --- what a search may be asked ---


def test_glossaries_add_their_words_unless_told_not_to(shelf: Shelf, agent: Agent) -> None:
    shelf.write("a.md", "水泵每年春天检查一次。")
    shelf.index()
    (shelf.library.home / "bases" / "default" / "glossary.md").write_text("水泵 = water pump\n", "utf-8")

    assert agent("kb_search", query="water pump")["found"] is True
    assert agent("kb_search", query="water pump", expand=False)["found"] is False


def test_a_reranker_scores_anew_if_asked(shelf: Shelf, agent: Agent) -> None:
    for i in range(3):
        shelf.write(f"{i}.md", "pump " * (i + 1))
    shelf.index()
    with serving(lambda _, seen: reranked(seen, lambda _, text: 1 / len(text))) as server:
        (shelf.library.home / "config.toml").write_text(f'[models.rerank]\napi_url = "{server.url}"\n', "utf-8")

        plain = agent("kb_search", query="pump")
        again = agent("kb_search", query="pump", rerank=True)

    assert "rerank_score" not in plain["hits"][0]
    assert all(0 < hit["rerank_score"] < 1 for hit in again["hits"])
    assert "127.0.0.1" in again["health"]["reranker"]
    assert "(rerank score 0." in agent.text


def test_a_reranker_that_is_not_there_is_told(shelf: Shelf, agent: Agent) -> None:
    shelf.write("a.md", "pump")
    shelf.index()

    assert agent("kb_search", query="pump", rerank=True)["health"]["degraded"]
    assert "no reranker is set" in agent.text


# --- honesty ---


def test_what_is_unlikely_to_answer_is_nothing_found_with_the_nearest_named(
    shelf: Shelf, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = FakeEmbedder()
    install(monkeypatch, embedder)
    for i in range(30):
        shelf.write(f"{i}.md", f"Note {i} about pumps.")
    agent.sight = Sight(library=type(shelf.library)(shelf.library.home))
    monkeypatch.setenv("ZHIKU_EMBEDDER", embedder.name)
    library = type(shelf.library)(shelf.library.home)
    library.index([shelf.docs])
    agent.sight = Sight(library=library)

    found = agent("kb_search", query="zebra")

    assert found["found"] is False
    assert found["hits"] == []
    assert [hit["rank"] for hit in found["nearest"]] == [1, 2, 3]
    assert agent.text.startswith("Nothing found in base default. The nearest, which hardly answer the question:")


def test_what_was_not_searched_is_told(shelf: Shelf, agent: Agent) -> None:
    shelf.write("a.md", "The pump is greased.")
    shelf.write("empty.md", "")
    shelf.write("broken.docx", b"no document")
    shelf.index()
    shelf.write("a.md", "The pump is painted and greased.")

    found = agent("kb_search", query="pump")

    assert found["health"] == {"mode": "lexical", "changed_hits": 1, "failed_files": 1, "textless_files": 1}
    assert "its file has changed" in found["hits"][0]["caution"]
    assert "1 file that could not be read and 1 file without text" in agent.text


def test_one_broken_base_is_told_and_costs_no_other(shelf: Shelf, agent: Agent) -> None:
    for name in ("good", "bad"):
        shelf.write(f"{name}/a.md", "The pump is greased.")
        shelf.index(shelf.docs / name, name=name)
    shelf.library.open("bad").close()
    (shelf.library.home / "bases" / "bad" / "index.sqlite3").write_bytes(b"no index at all" * 999)

    assert [hit["base"] for hit in agent("kb_search", query="pump")["hits"]] == ["good"]
    assert "'bad'" in agent.text or "bad" in agent.text
    assert "Note: " in agent.text
    assert [line["base"] for line in agent("kb_grep", keyword="pump")["lines"]] == ["good"]
    assert "Note: " in agent.text
    listed = {base["name"]: base for base in agent("kb_list")["bases"]}
    assert listed["good"]["ready"] is True
    assert listed["bad"]["problem"]
    covered = {base["name"]: base for base in agent("kb_coverage")["bases"]}
    assert covered["bad"]["ready"] is False


def test_reading_takes_one_place_and_one_way_to_name_it(shelf: Shelf, agent: Agent) -> None:
    for arguments in (
        {},
        {"path": "a.md", "locator": "zhiku://default/a.md"},
        {"path": "a.md", "lines": "1", "page": 1},
    ):
        with pytest.raises(BadCall):
            agent("kb_read", **arguments)


def test_lines_and_pages_are_read_with_context(shelf: Shelf, agent: Agent) -> None:
    shelf.write("a.txt", "\n".join(f"line {i}" for i in range(1, 10)))
    shelf.index()

    assert agent("kb_read", path="a.txt", lines="3-4")["text"] == "line 3\nline 4"
    assert agent("kb_read", path="a.txt", lines="8-")["text"] == "line 8\nline 9"
    assert agent("kb_read", path="a.txt", lines=" 5 ", context=1)["text"] == "line 4\nline 5\nline 6"
    assert agent("kb_read", path="a.txt", base="DEFAULT")["line_end"] == 9
