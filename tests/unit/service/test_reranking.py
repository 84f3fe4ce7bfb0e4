"""Which reranker a search has: settings, options and keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from endpoints import Server, reranked, serving
from fakes import FakeEmbedder, install
from shelf import Shelf
from zhiku.answer import Answer
from zhiku.config import CONFIG_FILE, load_settings
from zhiku.service.library import Library
from zhiku.service.reranking import sent_to

PREFER_LAST = "记录3"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(lambda number, seen: reranked(seen, lambda q, text: 0.9 if PREFER_LAST in text else 0.1)) as opened:
        yield opened


@pytest.fixture
def full(shelf: Shelf) -> Shelf:
    for n in range(4):
        shelf.write(f"{n}.md", f"# 记录{n}\n\n" + "阀门 检查。" * (8 - n))
    shelf.index()
    return shelf


def configure(shelf: Shelf, text: str) -> None:
    shelf.library.home.mkdir(exist_ok=True)
    (shelf.library.home / CONFIG_FILE).write_text(text, "utf-8")
    shelf.library = Library(shelf.library.home)


def ask(shelf: Shelf, **limits: Any) -> Answer:
    return shelf.search("阀门 检查", **limits)


def test_nothing_is_reranked_unless_asked_for(full: Shelf, server: Server) -> None:
    configure(full, f'[models.rerank]\napi_url = "{server.url}"\n')
    assert ask(full).health.reranker is None
    assert server.seen == []


def test_a_search_may_ask_for_it(full: Shelf, server: Server) -> None:
    configure(full, f'[models.rerank]\napi_url = "{server.url}"\nmodel_name = "m"\nquery_instruction = "问："\n')
    answer = ask(full, rerank=True)
    assert answer.health.reranker == f"{server.url}/v1/rerank"
    assert {hit.path: hit.rerank_score for hit in answer}["3.md"] == 0.9
    assert (server.seen[-1].body["model"], server.seen[-1].body["query"]) == ("m", "问：阀门 检查")


def test_the_settings_may_say_so_and_how_many_are_kept(full: Shelf, server: Server) -> None:
    text = f'[search]\nenable_rerank = true\nrerank_top_k = 2\n[models.rerank]\napi_url = "{server.url}"\n'
    configure(full, text)
    assert len(ask(full)) == 2
    assert len(ask(full, rerank_top_k=3)) == 3
    assert ask(full, rerank=False).health.reranker is None


def test_a_base_reranks_as_the_library_does(full: Shelf, server: Server) -> None:
    configure(full, f'[models.rerank]\napi_url = "{server.url}"\n')
    answer = full.base.search("阀门 检查", mode="lexical", rerank=True, rerank_top_k=2)
    assert (len(answer), answer.health.reranker) == (2, f"{server.url}/v1/rerank")


def test_several_bases_are_reranked_together(full: Shelf, server: Server) -> None:
    configure(full, f'[models.rerank]\napi_url = "{server.url}"\n')
    full.index(name="other")
    ask(full, rerank=True)
    assert len(server.seen[-1].body["documents"]) == 8


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no reranker is set"),
        ('[search]\nrerank = "lat"\n', "'lat' is not known here"),
        ('[models.rerank]\napi_url = "nothing"\n', "is not the address of an endpoint"),
        ('[models.rerank]\napi_url = "http://h"\napi_key = "env:NOT_SET_HERE"\n', "NOT_SET_HERE"),
    ],
)
def test_what_is_set_wrongly_costs_no_search_and_is_told(full: Shelf, text: str, told: str) -> None:
    configure(full, text)
    answer = ask(full, rerank=True)
    assert [hit.path for hit in answer] == ["0.md", "1.md", "2.md", "3.md"]
    assert told in answer.health.degraded[0].message


def test_a_changed_setting_holds_from_the_next_search_on(full: Shelf, server: Server) -> None:
    (full.library.home / CONFIG_FILE).write_text(f'[models.rerank]\napi_url = "{server.url}"\n', "utf-8")
    full.library.reload()
    assert ask(full, rerank=True).health.reranker == f"{server.url}/v1/rerank"


def test_late_interaction_needs_no_endpoint(full: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, FakeEmbedder("builtin"))
    configure(full, '[search]\nrerank = "late"\nenable_rerank = true\n')
    answer = ask(full)
    assert (answer.health.reranker, answer.health.degraded) == ("late", ())
    assert all(0 <= (hit.rerank_score or -1) <= 1 for hit in answer)


# --- keys ---


@pytest.mark.parametrize(
    ("sections", "sent"),
    [
        ('[models.rerank]\napi_url = "URL"\napi_key = "own"\n', "Bearer own"),
        ('[models.rerank]\napi_url = "URL"\n[models.embedding]\napi_url = "URL/v1"\napi_key = "e"\n', "Bearer e"),
        ('[models.rerank]\napi_url = "URL"\n[models.chat]\napi_url = "URL"\napi_key = "c"\n', "Bearer c"),
        ('[models.rerank]\napi_url = "URL"\n[models.chat]\napi_url = "http://h"\napi_key = "c"\n', None),
        ('[models.rerank]\napi_url = "URL"\n[models.embedding]\napi_key = "e"\n', None),
    ],
)
def test_a_key_is_sent_to_its_own_server_only(full: Shelf, server: Server, sections: str, sent: str | None) -> None:
    configure(full, sections.replace("URL", server.url))
    ask(full, rerank=True)
    assert server.seen[-1].headers.get("Authorization") == sent


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (
            '[search]\nenable_rerank = true\n[models.rerank]\napi_url = "https://api.example.com"\n',
            "https://api.example.com/v1/rerank",
        ),
        ('[search]\nenable_rerank = true\n[models.rerank]\napi_url = "http://localhost:8080"\n', ""),
        ('[models.rerank]\napi_url = "https://api.example.com"\n', ""),
        ("[search]\nenable_rerank = true\n", ""),
    ],
)
def test_it_is_known_where_text_of_hits_goes(shelf: Shelf, text: str, address: str) -> None:
    configure(shelf, text)
    assert sent_to(load_settings(shelf.library.home)) == address
