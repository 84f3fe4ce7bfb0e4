"""Which endpoint embeds a base: settings, options and keys; what made the vectors is held to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from endpoints import Seen, Server, Told, embedded, serving
from fakes import FakeEmbedder, install
from shelf import Shelf
from zhiku.config import CONFIG_FILE, ChatSettings, EmbeddingSettings, ModelSettings
from zhiku.errors import ConfigError, ManifestMismatch, ModelUnavailable, UsageError
from zhiku.service.embedding import Embedding
from zhiku.service.endpoints import USAGE_FILE, EmbedOptions, Endpoints, usage_of
from zhiku.service.library import Library
from zhiku.service.locks import LOCK

FILES = 5


class Model:
    """A server whose model, size and health a test changes."""

    def __init__(self) -> None:
        self.dims = 8
        self.status = 200
        self.bad = ""

    def answer(self, number: int, seen: Seen) -> Told:
        if self.status != 200 or (self.bad and any(self.bad in text for text in seen.body["input"])):
            return Told(status=self.status if self.status != 200 else 500)
        return embedded(seen, self.dims)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[Server]:
    with serving(model.answer) as opened:
        yield opened


@pytest.fixture
def full(shelf: Shelf, server: Server, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Return a shelf whose settings name the server's model m1."""
    monkeypatch.delenv("ZHIKU_EMBEDDER", raising=False)
    for n in range(FILES):
        shelf.write(f"{n}.txt", f"pump number {n}")
    configure(shelf, server.url)
    return shelf


def configure(
    shelf: Shelf, url: str = "", model: str = "m1", more: str = "", options: EmbedOptions | None = None
) -> None:
    """Write the settings of an endpoint, or none, and open the library anew, as the next command does."""
    home = shelf.library.home
    home.mkdir(exist_ok=True)
    section = f'[models.embedding]\napi_url = "{url}"\nmodel_name = "{model}"\ntimeout = 5\n' if url else ""
    (home / CONFIG_FILE).write_text(section + more, "utf-8")
    shelf.library = Library(home, options)


def index(shelf: Shelf, **options: object) -> Embedding:
    embedding = shelf.library.index([shelf.docs], **options).embedding
    assert embedding is not None
    return embedding


# --- what embeds a base ---


def test_an_endpoint_that_is_set_embeds_new_bases_and_their_questions(full: Shelf, server: Server) -> None:
    embedding = index(full)
    assert (embedding.failure, embedding.report.embedded) == (None, FILES)
    answer = full.search("pump number 3", mode="semantic")
    assert (answer.mode, answer.hits[0].path) == ("semantic", "3.txt")
    assert [len(seen.body["input"]) for seen in server.seen] == [FILES, 1]
    assert full.base.status().embedder_name == "endpoint"


def test_a_base_of_another_embedder_stays_with_it(full: Shelf, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeEmbedder()
    install(monkeypatch, fake)
    monkeypatch.setenv("ZHIKU_EMBEDDER", "fake")
    configure(full)
    index(full)
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    configure(full, server.url)
    full.write("new.txt", "another pump")
    assert index(full).failure is None
    answer = full.search("pump", mode="hybrid")
    assert (answer.mode, answer.health.degraded, server.seen) == ("hybrid", (), [])


def test_a_base_embedded_by_options_is_searched_without_them(full: Shelf, server: Server) -> None:
    configure(full, options=EmbedOptions(base_url=server.url, model="m1"))
    assert index(full).failure is None
    configure(full)
    assert full.search("pump number 3", mode="semantic").hits[0].path == "3.txt"
    full.write("new.txt", "another pump")
    assert index(full).report.embedded == 1


def test_a_base_may_have_a_named_endpoint(full: Shelf, server: Server) -> None:
    named = f'[models.embedding.big]\napi_url = "{server.url}"\nmodel_name = "m2"\n'
    configure(full, more=named)
    full.index()
    (full.base.folder / "base.toml").write_text(f'roots = ["{full.docs.as_posix()}"]\nembedder = "big"\n')
    assert index(full).failure is None
    assert server.seen[0].body["model"] == "m2"
    assert full.base.status().embedder_name == "big"


def test_all_spellings_of_an_address_are_one_endpoint(full: Shelf, server: Server) -> None:
    index(full)
    for url in (f"{server.url}/", f"{server.url}/v1/", f"{server.url}/v1/embeddings"):
        configure(full, url)
        assert index(full).failure is None
    assert len(server.seen) == 1


def test_an_endpoint_without_a_model_is_an_error_before_anything_is_done(full: Shelf, server: Server) -> None:
    configure(full, server.url, model="")
    with pytest.raises(ConfigError, match="no model is named") as caught:
        index(full)
    assert "zhiku config set models.embedding.model_name" in caught.value.hint
    assert not full.base.exists()


def test_options_do_not_overrule_what_a_base_is_set_to(full: Shelf, server: Server) -> None:
    configure(full)
    full.index()
    (full.base.folder / "base.toml").write_text(f'roots = ["{full.docs.as_posix()}"]\nembedder = "none"\n')
    configure(full, options=EmbedOptions(base_url=server.url, model="m1"))
    with pytest.raises(UsageError, match="the embedder is set to 'none'"):
        index(full)


# --- the lock ---


def test_another_model_is_refused_both_ways_out_are_told_and_going_back_costs_nothing(
    full: Shelf, server: Server, model: Model
) -> None:
    index(full)
    asked = len(server.seen)
    model.dims = 16
    configure(full, server.url, model="m2")
    failure = index(full).failure
    assert isinstance(failure, ManifestMismatch)
    assert all(part in str(failure) for part in ("m1, 8 dim", "m2, 16 dim", "zhiku rebuild -b default", "set the old"))
    with pytest.raises(ManifestMismatch, match=r"m1, 8 .*m2, 16 "):
        full.search("pump", mode="semantic")
    answer = full.search("pump", mode="hybrid")
    assert (answer.mode, len(answer), len(answer.health.degraded)) == ("lexical", FILES, 1)
    assert not any("pump" in text for seen in server.seen[asked:] for text in seen.body["input"])

    model.dims = 8
    configure(full, server.url)
    asked = len(server.seen)
    assert (index(full).failure, len(server.seen)) == (None, asked)
    assert full.search("pump", mode="semantic").mode == "semantic"


@pytest.mark.parametrize("more", ['query_instruction = "Q: "\n', 'document_instruction = "D: "\n', "dimensions = 4\n"])
def test_other_instructions_or_sizes_are_other_vectors(full: Shelf, server: Server, more: str) -> None:
    index(full)
    configure(full, server.url, more=more)
    failure = index(full).failure
    assert isinstance(failure, ManifestMismatch)
    assert more.split("=")[1].strip().strip('"')[:2] in failure.message


def test_a_limit_that_cuts_passages_is_part_of_what_makes_vectors(full: Shelf, server: Server) -> None:
    index(full)
    for harmless in (4096, 2048):
        configure(full, server.url, more=f"max_input_tokens = {harmless}\n")
        assert index(full).failure is None
    configure(full, server.url, more="max_input_tokens = 3\n")
    failure = index(full).failure
    assert isinstance(failure, ManifestMismatch)
    assert "max_input_tokens 3" in failure.message
    assert full.base.rebuild().report.embedding is not None
    configure(full)
    full.write("new.txt", "another pump with a long text")
    assert index(full).report.embedded == 1
    assert server.seen[-1].body["input"] == ["another pump"]
    configure(full, server.url)
    failure = index(full).failure
    assert isinstance(failure, ManifestMismatch)
    assert "max_input_tokens from 2048 on" in failure.message


def test_a_base_that_notes_no_limit_goes_on_with_any(full: Shelf, server: Server) -> None:
    index(full)
    with full.base._store.writing() as session:
        lock = json.loads(session.manifest()[LOCK])
        assert lock.pop("max_input_tokens") == 0
        session.set_manifest({LOCK: json.dumps(lock)})
    configure(full, server.url, more="max_input_tokens = 3\n")
    full.write("new.txt", "another pump with a long text")
    assert (index(full).failure, server.seen[-1].body["input"]) == (None, ["another pump"])


def test_another_address_is_another_endpoint(full: Shelf, server: Server) -> None:
    index(full)
    with serving(lambda number, seen: embedded(seen)) as other:
        configure(full, other.url)
        failure = index(full).failure
    assert isinstance(failure, ManifestMismatch)
    assert server.url in failure.message
    assert other.url in failure.message


def test_the_endpoint_of_a_base_is_known_under_another_name(full: Shelf, server: Server) -> None:
    index(full)
    full.write("new.txt", "another pump")
    with serving(lambda number, seen: embedded(seen, 16)) as other:
        kept = f'[models.embedding.old]\napi_url = "{server.url}/v1/"\nmodel_name = "m1"\napi_key = "its-key"\n'
        configure(full, other.url, model="m2", more=kept)
        assert full.search("pump number 3", mode="semantic").hits[0].path == "3.txt"
        assert (index(full).failure, other.seen) == (None, [])
        assert {seen.headers["Authorization"] for seen in server.seen[1:]} == {"Bearer its-key"}
        assert full.base.status().embedder_name == "old"
        configure(full, server.url)
        assert full.search("pump number 3", mode="semantic").hits[0].path == "3.txt"
        (full.base.folder / "base.toml").write_text(f'roots = ["{full.docs.as_posix()}"]\nembedder = "endpoint"\n')
        configure(full, other.url, model="m2", more=kept)
        assert isinstance(index(full).failure, ManifestMismatch)


@pytest.mark.parametrize("kept", ["[models.embedding.old]\napi_url = 'no address'\nmodel_name = 'm1'\n", ""])
def test_settings_that_are_of_no_use_leave_a_base_what_its_manifest_says(full: Shelf, kept: str) -> None:
    index(full)
    configure(full, more=kept)
    assert full.search("pump number 3", mode="semantic").hits[0].path == "3.txt"


def test_a_rebuild_makes_all_vectors_by_what_is_set_now(full: Shelf, server: Server, model: Model) -> None:
    index(full)
    model.dims = 16
    configure(full, server.url, model="m2")
    rebuilt = full.base.rebuild().report.embedding
    assert rebuilt is not None
    assert (rebuilt.replaced, rebuilt.report.embedded) == (True, FILES)
    assert full.search("pump number 3", mode="semantic").hits[0].path == "3.txt"
    configure(full)
    assert full.search("pump", mode="semantic").mode == "semantic"


def test_a_rebuild_goes_from_an_endpoint_to_another_embedder(
    full: Shelf, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    index(full)
    install(monkeypatch, FakeEmbedder())
    (full.base.folder / "base.toml").write_text(f'roots = ["{full.docs.as_posix()}"]\nembedder = "fake"\n')
    assert full.base.rebuild().report.embedding is not None
    (full.base.folder / "base.toml").write_text(f'roots = ["{full.docs.as_posix()}"]\n')
    asked = len(server.seen)
    assert full.search("pump", mode="semantic").mode == "semantic"
    assert (full.base.status().embedder_name, len(server.seen)) == ("fake", asked)


def test_vectors_stay_where_the_new_endpoint_fails(full: Shelf, server: Server, model: Model) -> None:
    index(full)
    configure(full, server.url, model="m2")
    model.status = 401
    with pytest.raises(Exception, match="refuses the key"):
        full.base.rebuild()
    model.status = 200
    configure(full, server.url)
    assert full.search("pump", mode="semantic").mode == "semantic"


def test_an_endpoint_that_was_written_wrongly_leaves_no_trace(full: Shelf, server: Server, model: Model) -> None:
    model.status = 404
    configure(full, server.url, model="typo", more="dimensions = 8\n")
    assert index(full).failure is not None
    model.status = 200
    configure(full, server.url)
    assert (index(full).failure, index(full).report.pending) == (None, 0)


def test_an_endpoint_that_is_away_leaves_a_search_its_words(full: Shelf, server: Server, model: Model) -> None:
    index(full)
    model.status = 503
    answer = full.search("pump", mode="hybrid")
    assert (answer.mode, len(answer)) == ("lexical", FILES)
    assert isinstance(answer.health.degraded[0], ModelUnavailable)
    with pytest.raises(ModelUnavailable):
        full.search("pump", mode="semantic")


# --- what it costs ---


def test_requests_of_runs_and_searches_are_counted(full: Shelf, server: Server, model: Model) -> None:
    index(full)
    full.search("pump number 3", mode="semantic")
    (usage,) = usage_of(full.library.home)
    assert (usage.kind, usage.model, usage.address) == ("embedding", "m1", f"{server.url}/v1/embeddings")
    assert (usage.calls, usage.errors, usage.texts, usage.tokens_estimated) == (2, 0, FILES + 1, 0)
    model.status = 401
    full.search("pump", mode="hybrid")
    assert [(each.calls, each.errors, each.texts) for each in usage_of(full.library.home)] == [(3, 1, FILES + 1)]


def test_a_run_and_a_search_do_without_counting(full: Shelf, server: Server) -> None:
    (full.library.home / USAGE_FILE).mkdir()
    assert index(full).failure is None
    assert full.search("pump number 3", mode="semantic").hits[0].path == "3.txt"


# --- one bad text ---


def test_a_text_that_the_model_fails_over_is_listed_and_tried_again_by_the_next_run(
    full: Shelf, server: Server, model: Model
) -> None:
    full.write("bad.txt", "the poison pump")
    model.bad = "poison"
    report = index(full).report
    assert (report.embedded, len(report.refused), report.pending) == (FILES, 1, 1)
    status = full.base.status()
    assert [(entry.path, entry.code) for entry in status.noted("unembedded")] == [("bad.txt", "unembedded")]
    assert full.found("poison") == ["bad.txt"]
    assert full.search("pump number 3", mode="semantic").hits[0].path == "3.txt"

    asked = len(server.seen)
    index(full)
    assert {text for seen in server.seen[asked:] for text in seen.body["input"] if "pump" in text} == {
        text for text in (seen.body["input"][0] for seen in server.seen[asked:]) if "poison" in text
    }
    assert [entry.tries for entry in full.base.status().noted("unembedded")] == [2]
    full.index()
    assert len(full.base.status().noted("unembedded")) == 1

    model.bad = ""
    assert index(full).report.embedded == 1
    assert full.base.status().noted("unembedded") == []


# --- agreement ---


AWAY = "https://models.example.com/v1"


def test_text_is_not_sent_to_another_computer_unless_somebody_agrees(full: Shelf) -> None:
    configure(full, AWAY)
    sending = full.library.sending()
    assert sending is not None
    assert (sending.address, sending.is_new) == (f"{AWAY}/embeddings", True)
    failure = index(full).failure
    assert isinstance(failure, UsageError)
    assert "zhiku index -b default --yes" in failure.hint
    assert full.found("pump") != []


def test_nothing_is_asked_for_this_computer(full: Shelf) -> None:
    sending = full.library.sending()
    assert sending is not None
    assert not sending.is_new


def test_a_base_of_the_model_that_is_part_of_zhiku_sends_nothing(full: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZHIKU_EMBEDDER", "builtin")
    configure(full, AWAY)
    assert full.library.sending() is None


# --- keys ---


def key(
    address: str = "http://h/v1/embeddings",
    *,
    option: str = "",
    section: EmbeddingSettings | None = None,
    chat: ChatSettings | None = None,
    **environ: str,
) -> str:
    models = ModelSettings(embedding=section or EmbeddingSettings(), chat=chat or ChatSettings())
    return Endpoints(models, environ, EmbedOptions(api_key=option)).key_for("endpoint", address)


def test_the_nearest_key_counts() -> None:
    section = EmbeddingSettings(api_url="http://h", api_key="section")
    chat = ChatSettings(api_key="chat")
    environ = {"ZHIKU_EMBED_API_KEY": "variable", "OPENAI_API_KEY": "openai"}
    assert key(option="option", section=section, chat=chat, **environ) == "option"
    assert key(section=section, chat=chat, **environ) == "section"
    assert key(chat=chat, **environ) == "variable"
    assert key(chat=chat, OPENAI_API_KEY="openai") == "chat"
    assert key(OPENAI_API_KEY="openai") == ""
    assert key("https://api.openai.com/v1/embeddings", OPENAI_API_KEY="openai") == "openai"


def test_a_key_is_not_sent_to_another_server_than_it_was_set_for() -> None:
    section = EmbeddingSettings(api_url="http://one", api_key="section")
    chat = ChatSettings(api_url="http://one", api_key="chat")
    assert key("http://two/v1/embeddings", section=section, chat=chat) == ""
    assert key("http://one:8080/v1/embeddings", section=section) == "section"
    assert key("https://api.openai.com.example.com/v1", OPENAI_API_KEY="openai") == ""


def test_keys_are_read_where_they_are_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-a-file\n")
    assert key(option=f"file:{tmp_path / 'key'}") == "from-a-file"
    assert key(option="env:MINE", MINE="from-there") == "from-there"


def test_a_key_that_only_an_option_gives_is_passing() -> None:
    address = "http://h/v1/embeddings"
    for environ, passing in (({}, True), ({"ZHIKU_EMBED_API_KEY": "variable"}, False)):
        endpoints = Endpoints(ModelSettings(), environ, EmbedOptions(api_key="option"))
        assert endpoints.key_is_passing("endpoint", address) is passing
    assert not Endpoints(ModelSettings(), {}, EmbedOptions()).key_is_passing("endpoint", address)
