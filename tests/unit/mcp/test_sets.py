"""Sets of tools for agents written against other servers: their names, arguments, defaults and results."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from endpoints import reranked, serving
from fakes import FakeEmbedder, install
from shelf import Shelf
from zhiku.errors import NotFound, UsageError, ZhikuError
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import BadCall, Reply, Tool
from zhiku.mcp.toolsets import tools_of
from zhiku.service.library import Library

CAP = 20_000
WAIT_S = 60.0
Call = Callable[..., dict[str, Any]]


class Caller:
    """Calls tools of a set; every result must fit its schema and stay within bounds."""

    def __init__(self, sight: Sight, name: str) -> None:
        self.sight = sight
        self._tools = {tool.name: tool for tool in tools_of([name], allow_write=True)}
        self.text = ""

    def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        tool = self._tools[name]
        reply: Reply = tool.run(self.sight, **tool.arguments(arguments))
        data = tool.json_of(reply.data)
        jsonschema.validate(data, tool.output_schema)
        self.text = reply.text
        assert (
            len(reply.text or json.dumps(data, ensure_ascii=False)) + len(json.dumps(data, ensure_ascii=False)) <= CAP
        )
        return data


@pytest.fixture
def shelf(shelf: Shelf) -> Shelf:
    """Return two bases, `notes` and `works`, and an empty one."""
    shelf.write("notes/pumps.md", "# Pumps\n\nThe seal of the pump is greased.\n\n水泵的密封圈每年上油。\n")
    shelf.write("notes/copy.md", "# Pumps\n\nThe seal of the pump is greased.\n\n水泵的密封圈每年上油。\n")
    shelf.write("works/valve.md", "A valve of the pump.\n")
    for name in ("notes", "works"):
        shelf.index(shelf.docs / name, name=name)
    settings = shelf.library.open("notes").folder / "base.toml"
    settings.write_text(settings.read_text() + f'intro = "{"Notes of the station. " * 20}"\n')
    shelf.library.open_or_create("empty")
    return shelf


def calling(shelf: Shelf, name: str, **seen: Any) -> Caller:
    return Caller(Sight(library=shelf.library, **seen), name)


def arguments_of(tool: Tool) -> dict[str, Any]:
    """Return what a tool takes, with defaults; `...` for what must be given."""
    needed = tool.input_schema.get("required", ())
    given = tool.input_schema["properties"]
    return {name: ... if name in needed else about.get("default") for name, about in given.items()}


@pytest.mark.parametrize(
    ("name", "tools"),
    {
        "kb": {"kb_search": {"query": ..., "top_k": 5}},
        "knowledge": {
            "knowledge_list": {
                "only_ready": True,
                "include_intro": True,
                "include_has_intro": False,
                "intro_max_chars": 120,
                "max_items": 50,
                "name_keyword": None,
            },
            "knowledge_text_search": {
                "knowledge_base": ...,
                "keyword": ...,
                "max_lines": 20,
                "max_chars": 2000,
                "max_chars_per_item": 180,
                "case_sensitive": False,
                "source_keyword": None,
                "include_source": True,
                "include_line": True,
            },
            "knowledge_semantic_search": {
                "knowledge_base": ...,
                "query": ...,
                "top_k": None,
                "enable_rerank": None,
                "rerank_top_k": None,
                "min_relevance": 0,
                "source_keyword": None,
                "max_chars_per_item": 220,
                "include_rerank_score": True,
                "deduplicate": True,
            },
        },
        "domain": {"kb_search": {"domain": ..., "query": ..., "top_k": 5, "expand": True}, "kb_domains": {}},
        "persona": {
            "kb_ask": {"question": ..., "persona": "", "top_k": 5, "expand": True},
            "kb_coverage": {"persona": ""},
        },
    }.items(),
)
def test_the_arguments_of_a_set_and_their_defaults_are_those_agreed(
    name: str, tools: dict[str, dict[str, Any]]
) -> None:
    found = {tool.name: arguments_of(tool) for tool in tools_of([name])}
    # What is empty need not be said to be so.
    expected = {
        tool: {key: value or None if value == "" else value for key, value in given.items()}
        for tool, given in tools.items()
    }
    assert found == expected


def test_listing_the_tools_of_all_sets_loads_nothing_that_reads_files() -> None:
    code = (
        "import sys; from zhiku.mcp.toolsets import SETS, tools_of\n"
        "print(*(tool.name for name in SETS for tool in tools_of([name], allow_write=True) if tool.input_schema))\n"
        "print(*(name for name in sys.modules if name.startswith(('zhiku.ingest', 'zhiku.parsers', 'numpy', 'mcp.'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=WAIT_S)
    tools, loaded = done.stdout.split("\n")[:2]
    assert "kb_ingest" in tools
    assert loaded == ""


def test_every_tool_of_a_set_only_reads() -> None:
    for name in ("kb", "knowledge", "domain", "persona"):
        assert all(tool.read_only for tool in tools_of([name]))


def test_sets_whose_tools_share_a_name_are_not_offered_together() -> None:
    with pytest.raises(UsageError, match="kb_search"):
        tools_of(["kb", "domain"])
    assert len(tools_of(["knowledge", "persona"])) == 5


# --- kb ---


def test_kb_searches_the_base_default(shelf: Shelf) -> None:
    kb = calling(shelf, "kb")
    with pytest.raises(NotFound, match="no base named 'default'"):
        kb("kb_search", query="pump")
    shelf.index(shelf.docs / "works", name="default")
    assert [hit["base"] for hit in kb("kb_search", query="pump")["hits"]] == ["default"]
    alone = calling(shelf, "kb", bases=("notes",))
    assert alone("kb_search", query="pump", top_k=1)["total"] == 1
    for name in shelf.library.names():
        shelf.library.delete(name)
    with pytest.raises(NotFound, match="there is no base yet"):
        kb("kb_search", query="pump")


# --- knowledge ---


def test_knowledge_list_has_the_agreed_shape(shelf: Shelf) -> None:
    knowledge = calling(shelf, "knowledge")
    listed = knowledge("knowledge_list")
    assert listed | {"items": 0} == {"ok": True, "count": 2, "truncated": False, "items": 0}
    assert [item["name"] for item in listed["items"]] == ["notes", "works"]
    assert [len(item["intro"]) for item in listed["items"]] == [120, 0]
    assert knowledge("knowledge_list", include_intro=False, include_has_intro=True, name_keyword="NOTE") == {
        "ok": True,
        "count": 1,
        "truncated": False,
        "items": [{"name": "notes", "has_intro": True}],
    }
    assert knowledge("knowledge_list", only_ready=False)["count"] == 3
    cut = knowledge("knowledge_list", max_items=1, intro_max_chars=5)
    assert (cut["count"], cut["truncated"], cut["items"]) == (1, True, [{"name": "notes", "intro": "Note…"}])


def test_knowledge_text_search_has_the_agreed_shape(shelf: Shelf) -> None:
    knowledge = calling(shelf, "knowledge")
    found = knowledge("knowledge_text_search", knowledge_base="NOTES", keyword="密封圈", source_keyword="pumps")
    assert found == {
        "ok": True,
        "knowledge_base": "notes",
        "keyword": "密封圈",
        "count": 1,
        "items": [{"source": "pumps.md", "line": 5, "text": "水泵的密封圈每年上油。"}],
    }
    short = {"include_source": False, "include_line": False, "max_chars_per_item": 5, "max_lines": 1}
    (item,) = knowledge("knowledge_text_search", knowledge_base="notes", keyword="PUMP", **short)["items"]
    assert item == {"text": "Pumps"}
    nothing = knowledge("knowledge_text_search", knowledge_base="notes", keyword="PUMP", case_sensitive=True)
    assert (nothing["count"], nothing["items"]) == (0, [])


def test_knowledge_semantic_search_has_the_agreed_shape(shelf: Shelf) -> None:
    knowledge = calling(shelf, "knowledge")
    ask = {"knowledge_base": "notes", "query": "how is the seal greased"}
    found = knowledge("knowledge_semantic_search", **ask)
    assert list(found) == ["ok", "knowledge_base", "query", "count", "items"]
    (item,) = found["items"]
    assert list(item) == ["source", "text", "relevance", "rerank_score"]
    assert (item["relevance"], item["rerank_score"]) == (None, None)
    assert knowledge("knowledge_semantic_search", **ask, deduplicate=False)["count"] == 2
    (bare,) = knowledge("knowledge_semantic_search", **ask, include_rerank_score=False, max_chars_per_item=9)["items"]
    assert list(bare) == ["source", "text", "relevance"]
    assert len(bare["text"]) <= 9


def test_arguments_stand_over_the_settings(shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(8):
        shelf.write(f"notes/{number}.md", f"The pump number {number}.\n")
    shelf.index(shelf.docs / "notes", name="notes")
    knowledge = calling(shelf, "knowledge")
    settings = shelf.library.home / "config.toml"
    ask = {"knowledge_base": "notes", "query": "number"}
    settings.write_text("[search]\ntop_k = 3\n")
    assert knowledge("knowledge_semantic_search", **ask)["count"] == 3
    assert knowledge("knowledge_semantic_search", **ask, top_k=4)["count"] == 4
    with serving(lambda _, seen: reranked(seen)) as endpoint:
        settings.write_text(f'[search]\nenable_rerank = true\n[models.rerank]\napi_url = "{endpoint.url}"\n')
        scored = knowledge("knowledge_semantic_search", **ask, top_k=4, rerank_top_k=2)
        assert [item["rerank_score"] is not None for item in scored["items"]] == [True, True]
        assert knowledge("knowledge_semantic_search", **ask, top_k=4, enable_rerank=False)["count"] == 4
        with caplog.at_level(logging.WARNING):
            shrunk = knowledge("knowledge_semantic_search", **ask, top_k=4, rerank_top_k=4)
        assert shrunk["count"] == 3
        assert "rerank_top_k must be below top_k" in caplog.text
        assert "rerank_top_k must be below top_k" in shrunk["warnings"][0]


# --- domain ---


def test_a_domain_is_searched_by_its_name(shelf: Shelf) -> None:
    domain = calling(shelf, "domain")
    found = domain("kb_search", domain="Works", query="pump")
    assert (found["domain"], found["count"], found["hits"][0]["path"]) == ("works", 1, "valve.md")
    nothing = domain("kb_search", domain="works", query="zebra")
    assert (nothing["count"], nothing["hits"]) == (0, [])
    assert "kb_domains" in nothing["hint"] == domain.text
    with pytest.raises(NotFound, match="did you mean 'works'"):
        domain("kb_search", domain="work", query="pump")


def test_domains_are_listed_with_what_they_hold(shelf: Shelf) -> None:
    (shelf.library.open("notes").folder / "glossary.md").write_text("pump = 水泵, 泵\nseal = 密封圈\n")
    domain = calling(shelf, "domain")
    listed = {each["name"]: each for each in domain("kb_domains")["domains"]}
    assert [listed["notes"][key] for key in ("documents", "chunks", "terms")] == [2, 2, 2]
    assert "holds nothing yet" in listed["empty"]["problem"]
    assert "2 documents, 2 chunks, 2 terms" in domain.text
    for name in shelf.library.names():
        shelf.library.delete(name)
    assert "zhiku index" in domain("kb_domains")["hint"]


def test_a_domain_s_glossary_is_used_unless_told_otherwise(shelf: Shelf) -> None:
    (shelf.library.open("works").folder / "glossary.md").write_text("armature = valve\n")
    domain = calling(shelf, "domain")
    assert domain("kb_search", domain="works", query="armature")["count"] == 1
    assert domain("kb_search", domain="works", query="armature", expand=False)["count"] == 0


# --- domain, with writing ---


def test_tools_that_change_something_are_offered_only_where_that_is_allowed() -> None:
    offered = {tool.name: tool for tool in tools_of(["domain"], allow_write=True)}
    assert list(offered) == ["kb_search", "kb_domains", "kb_ingest", "kb_task", "kb_forget"]
    assert [name for name, tool in offered.items() if not tool.read_only] == ["kb_ingest", "kb_forget"]
    defaults = {"domain": ..., "source": ..., "mode": "incremental", "glossary": None, "ocr": False}
    assert arguments_of(offered["kb_ingest"]) == defaults
    assert offered["kb_ingest"].input_schema["properties"]["mode"]["enum"] == ["incremental", "rebuild"]
    assert arguments_of(offered["kb_forget"]) == {"domain": ..., "rel_path": None, "doc_id": 0}
    assert arguments_of(offered["kb_task"]) == {"job_id": ...}


def test_files_are_read_into_a_domain_as_a_job(shelf: Shelf) -> None:
    shelf.write("works/new.md", "A bolt.\n")
    shelf.write("works/bad.pdf", b"%PDF-1.4 no\n")
    domain = calling(shelf, "domain")
    begun = domain("kb_ingest", domain="Works", source=str(shelf.docs / "works"))
    assert begun["title"].startswith("incremental works: ")
    domain.sight.tasks.wait(begun["job_id"], WAIT_S)
    done = domain("kb_task", job_id=begun["job_id"])
    assert (done["state"], done["result"]["new"], done["result"]["failed"]) == ("done", 1, 1)
    assert [failure["path"] for failure in done["result"]["failures"]] == ["bad.pdf"]
    assert "1 file could not be read:\n- bad.pdf: " in domain.text
    assert domain("kb_search", domain="works", query="bolt")["count"] == 1


def test_a_job_that_fails_says_why(shelf: Shelf) -> None:
    domain = calling(shelf, "domain")
    begun = domain("kb_ingest", domain="works", source="valve.md")
    settings = shelf.library.open("works").folder / "base.toml"
    domain.sight.tasks.wait(begun["job_id"], WAIT_S)
    settings.write_text(settings.read_text() + "overlap_lines = 20\nchunker = 'lines'\n")
    again = domain("kb_ingest", domain="works", source="valve.md")
    domain.sight.tasks.wait(again["job_id"], WAIT_S)
    failed = domain("kb_task", job_id=again["job_id"])
    assert (failed["state"], "must be less than chunk_lines" in failed["error"]) == ("failed", True)
    with pytest.raises(NotFound, match="no job '9'"):
        domain("kb_task", job_id="9")


def test_documents_are_taken_out_of_search(shelf: Shelf) -> None:
    domain = calling(shelf, "domain")
    gone = domain("kb_forget", domain="notes", rel_path="copy.md")
    assert (gone["domain"], gone["count"], gone["documents"]) == ("notes", 1, ["copy.md"])
    assert "zhiku unforget" in gone["hint"]
    assert (
        domain("kb_forget", domain="notes", doc_id=1)["count"] + domain("kb_forget", domain="notes", doc_id=2)["count"]
        == 1
    )
    assert (shelf.docs / "notes" / "copy.md").exists()
    for wrong in ({}, {"rel_path": "copy.md", "doc_id": 1}):
        with pytest.raises(BadCall, match="one of them"):
            domain("kb_forget", domain="notes", **wrong)


def test_many_documents_are_counted_and_as_many_named_as_there_is_room_for(shelf: Shelf) -> None:
    for number in range(300):
        shelf.write(f"works/{'a long name ' * 10}{number}.md", f"Number {number}.\n")
    shelf.index(shelf.docs / "works", name="works")
    (shelf.docs / "works" / "more").mkdir()
    domain = calling(shelf, "domain")
    gone = domain("kb_forget", domain="works", rel_path=f"{'a long name ' * 10}1.md")
    assert gone["count"] == 1
    shelf.write("works/more/a.md", "More.\n")
    for number in range(300):
        (shelf.docs / "works" / f"{'a long name ' * 10}{number}.md").rename(
            shelf.docs / "works" / "more" / f"{'n' * 99}{number}.md"
        )
    shelf.index(shelf.docs / "works", name="works")
    gone = domain("kb_forget", domain="works", rel_path="more")
    assert gone["count"] + gone["already"] == 301
    assert 20 < len(gone["documents"]) < 300


def test_what_a_server_does_not_show_is_not_changed_either(shelf: Shelf) -> None:
    declare(shelf, "mei", "works")
    (shelf.library.home / "config.toml").write_text(f'[library]\nroots = ["{shelf.docs.as_posix()}"]\n')
    shelf.write("fresh/a.md", "A crane.\n")
    told = []
    for seen in ({"persona": "mei"}, {"bases": ("works",)}):
        domain = calling(shelf, "domain", **seen)
        for name, source in (("notes", "notes"), ("nobody", "nobody"), ("fresh", "fresh")):
            with pytest.raises(NotFound, match="no base named") as caught:
                domain("kb_ingest", domain=name, source=str(shelf.docs / source))
            told.append(str(caught.value).replace(name, "NAME"))
            with pytest.raises(NotFound, match="no base named"):
                domain("kb_forget", domain=name, rel_path="a.md")
        with pytest.raises(UsageError, match="not below a root"):
            domain("kb_ingest", domain="works", source=str(shelf.docs / "notes"))
    assert len(set(told)) == 1
    everything = calling(shelf, "domain")
    begun = everything("kb_ingest", domain="fresh", source=str(shelf.docs / "fresh"))
    assert everything.sight.tasks.wait(begun["job_id"], WAIT_S).state == "done"
    assert everything("kb_search", domain="fresh", query="crane")["count"] == 1


# --- persona ---


def declare(shelf: Shelf, name: str, *bases: str) -> None:
    profile = shelf.library.home / "personas" / name / "profile.md"
    profile.parent.mkdir(parents=True)
    profile.write_text("## visible_domains\n" + "".join(f"- {base}\n" for base in bases))


def test_a_persona_is_asked_what_it_sees(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(shelf, "mei", "works")
    declare(shelf, "blind")
    persona = calling(shelf, "persona")
    found = persona("kb_ask", question="the pump", persona="Mei")
    assert (found["persona"], found["coverage"], found["bases"]) == ("mei", True, ["works"])
    assert [(hit["base"], hit["path"], hit["line_start"]) for hit in found["hits"]] == [("works", "valve.md", 1)]

    nothing = persona("kb_ask", question="密封圈", persona="mei")
    assert (nothing["coverage"], nothing["hits"]) == (False, [])
    assert "nothing that mei sees (base works)" in nothing["hint"]
    assert persona.text.startswith("coverage=false")

    blind = persona("kb_ask", question="pump", persona="blind")
    assert (blind["coverage"], blind["bases"]) == (False, [])
    assert "names none below ## visible_domains" in blind["hint"]

    with pytest.raises(UsageError, match="no persona is named"):
        persona("kb_ask", question="pump")
    monkeypatch.setenv("ZHIKU_DEFAULT_PERSONA", "mei")
    assert persona("kb_ask", question="pump")["persona"] == "mei"


def test_what_a_persona_sees_is_counted(shelf: Shelf) -> None:
    declare(shelf, "mei", "works", "nobody")
    declare(shelf, "blind", "nobody")
    persona = calling(shelf, "persona")
    covered = persona("kb_coverage", persona="mei")
    assert covered["bases"] == [{"name": "works", "documents": 1, "chunks": 1, "terms": 0}]
    assert persona("kb_coverage", persona="blind")["total"] == 0
    assert "do not exist (nobody)" in persona.text


def test_a_server_for_a_persona_knows_no_other(shelf: Shelf) -> None:
    declare(shelf, "mei", "works")
    declare(shelf, "lu", "notes")
    persona = calling(shelf, "persona", persona="mei")
    assert persona("kb_ask", question="pump")["bases"] == ["works"]
    with pytest.raises(NotFound, match="no persona named 'lu'"):
        persona("kb_ask", question="pump", persona="lu")
    some = calling(shelf, "persona", bases=("notes",))
    assert some("kb_coverage", persona="lu")["total"] == 1
    assert some("kb_ask", question="pump", persona="mei")["coverage"] is False


def test_a_passage_that_hardly_answers_is_no_coverage(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    install(monkeypatch, FakeEmbedder())
    shelf.library = Library(shelf.library.home)
    settings = shelf.library.open("works").folder / "base.toml"
    settings.write_text(settings.read_text() + 'embedder = "fake"\n')
    shelf.library.index([], "works")
    declare(shelf, "mei", "works")
    for name, tool, arguments in (
        ("persona", "kb_ask", {"question": "zebra lion", "persona": "mei"}),
        ("domain", "kb_search", {"query": "zebra lion", "domain": "works"}),
    ):
        found = calling(shelf, name)(tool, **arguments)
        assert found["hits"] == []
        assert "The nearest, which hardly" in found["hint"]


def test_results_stay_within_bounds(shelf: Shelf) -> None:
    for number in range(60):
        shelf.write(f"works/{number}.md", f"# {number}\n\n" + f"检查“{number}”油位与螺栓，记录读数。" * 100 + "\n")
    shelf.index(shelf.docs / "works", name="works")
    declare(shelf, "mei", "works")
    knowledge = calling(shelf, "knowledge")
    many = {"knowledge_base": "works", "top_k": 100, "max_chars_per_item": 2_000, "deduplicate": False}
    assert knowledge("knowledge_semantic_search", query="检查 油位", **many)["count"] >= 4
    lines = {"knowledge_base": "works", "max_lines": 500, "max_chars": 8_000, "max_chars_per_item": 2_000}
    assert knowledge("knowledge_text_search", keyword="油位", **lines)["count"] >= 4
    calling(shelf, "domain")("kb_search", domain="works", query="检查 油位", top_k=100)
    calling(shelf, "persona")("kb_ask", question="检查 油位", persona="mei", top_k=100)


@pytest.mark.parametrize(
    ("name", "tool", "arguments"),
    [
        ("knowledge", "knowledge_text_search", {"knowledge_base": "notes", "keyword": ""}),
        ("knowledge", "knowledge_semantic_search", {"knowledge_base": "notes", "query": " "}),
        ("domain", "kb_search", {"query": "pump"}),
        ("persona", "kb_ask", {"question": "pump", "persona": "../mei"}),
        ("kb", "kb_search", {"query": "pump", "base": "notes"}),
    ],
)
def test_what_cannot_be_asked_is_an_error(shelf: Shelf, name: str, tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises((BadCall, ZhikuError)):
        calling(shelf, name)(tool, **arguments)
