"""Requests are tried again where that may help, and only there; nothing secret is told."""

from __future__ import annotations

import logging
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from threading import Thread

import pytest

from endpoints import Seen, Told, serving
from fakes import FakeClock
from zhiku.errors import BadModelReply, ModelError, ModelUnavailable
from zhiku.remote import Call, Client, Endpoint, Load, Patience, detail_of, status_of

KEY = "sk-secret"
OK = Told(body={"data": [], "usage": {"total_tokens": 7}})


class Subject:
    """A client whose pauses are counted instead of waited for."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.pauses: list[float] = []
        self.calls: list[Call] = []
        self.client = Client(self.calls.append, pause=self.pause, clock=self.clock)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.clock.now_s += seconds

    def post(self, url: str, **options: float) -> object:
        patience = Patience(tries=4)
        body = {"input": ["text of a document"]}
        endpoint = Endpoint(url=url, model="m", key=KEY, **options)
        return self.client.post(endpoint, "embeddings", body, Load(texts=1, estimate=lambda: 4), patience)


@pytest.fixture
def subject() -> Iterator[Subject]:
    made = Subject()
    yield made
    made.client.close()


def failing(*statuses: int, retry_after: str = "") -> object:
    def answer(number: int, seen: Seen) -> Told:
        headers = {"Retry-After": retry_after} if retry_after else {}
        return Told(status=statuses[number - 1], headers=headers) if number <= len(statuses) else OK

    return answer


def test_what_an_endpoint_answers_is_returned(subject: Subject) -> None:
    with serving(lambda number, seen: OK) as server:
        assert subject.post(server.url) == OK.body

    (seen,) = server.seen
    assert (seen.path, seen.headers["Authorization"]) == ("/v1/embeddings", f"Bearer {KEY}")
    assert seen.body == {"input": ["text of a document"]}


def test_without_a_key_none_is_sent(subject: Subject) -> None:
    with serving(lambda number, seen: OK) as server:
        subject.client.post(Endpoint(url=server.url, model="m"), "embeddings", {})
    assert "Authorization" not in server.seen[0].headers


def test_requests_share_a_connection(subject: Subject) -> None:
    with serving(lambda number, seen: OK) as server:
        ports = set()
        verify = server.verify_request
        server.verify_request = lambda request, address: ports.add(address) or verify(request, address)
        for _ in range(3):
            subject.post(server.url)
    assert len(ports) == 1


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504, 529])
def test_an_endpoint_that_is_busy_is_asked_again(subject: Subject, status: int) -> None:
    with serving(failing(status, status, status)) as server:
        assert subject.post(server.url) == OK.body
    assert (len(server.seen), subject.pauses) == (4, [0.5, 1.0, 2.0])


def test_it_is_not_asked_for_ever(subject: Subject) -> None:
    with serving(failing(*[503] * 9)) as server, pytest.raises(ModelUnavailable, match="fails") as caught:
        subject.post(server.url)
    assert (len(server.seen), status_of(caught.value)) == (4, 503)


def test_an_endpoint_that_fails_twice_over_the_same_is_left(subject: Subject) -> None:
    with serving(failing(500, 500)) as server, pytest.raises(ModelUnavailable) as caught:
        subject.post(server.url)
    assert (len(server.seen), status_of(caught.value)) == (2, 500)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_an_endpoint_refuses_is_not_sent_again(subject: Subject, status: int) -> None:
    with serving(failing(status)) as server, pytest.raises(BadModelReply) as caught:
        subject.post(server.url)
    assert (len(server.seen), status_of(caught.value)) == (1, status)


def test_a_wrong_address_is_shown_whole(subject: Subject) -> None:
    with serving(failing(404)) as server, pytest.raises(BadModelReply) as caught:
        subject.post(server.url + "/api/v3/")
    assert f"{server.url}/api/v3/embeddings does not exist" in caught.value.message


def test_a_server_says_when_to_come_back_in_seconds(subject: Subject) -> None:
    with serving(failing(429, 429, retry_after="3")) as server:
        subject.post(server.url)
    assert subject.pauses == [3, 3]


def test_or_by_a_date(subject: Subject) -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    with serving(failing(429, retry_after=then)) as server:
        subject.post(server.url)
    assert 25 < subject.pauses[0] <= 30


@pytest.mark.parametrize("said", ["soon", "Mon, 99 Nov 2026", "-5", "nan"])
def test_what_is_no_time_is_passed_over(subject: Subject, said: str) -> None:
    with serving(failing(429, retry_after=said)) as server:
        subject.post(server.url)
    assert subject.pauses[0] in (0.0, 0.5)


def test_a_server_that_asks_for_an_hour_ends_the_run(subject: Subject) -> None:
    with serving(failing(429, retry_after="3600")) as server, pytest.raises(ModelUnavailable, match="no more requests"):
        subject.post(server.url)
    assert subject.pauses == []


def test_a_budget_holds_over_all_tries(subject: Subject) -> None:
    patience = Patience(tries=9, budget_s=2.0)
    with serving(failing(*[503] * 9)) as server, pytest.raises(ModelUnavailable):
        subject.client.post(Endpoint(url=server.url, model="m"), "rerank", {}, patience=patience)
    assert subject.pauses == [0.5, 1.0]


def test_a_request_that_does_not_get_its_turn_in_time_is_given_up() -> None:
    client, patience = Client(), Patience(tries=2, budget_s=0.2)
    with serving(lambda number, seen: Told(hangs=True)) as server:
        endpoint = Endpoint(url=server.url, model="m", timeout_s=1.0)

        def ask() -> None:
            with pytest.raises(ModelUnavailable):
                client.post(endpoint, "rerank", {})

        first = Thread(target=ask)
        first.start()
        while not server.seen:
            time.sleep(0.01)
        with pytest.raises(ModelUnavailable, match="busy"):
            client.post(endpoint, "rerank", {}, patience=patience)
        assert len(server.seen) == 1
        client.close()
        server.ended.set()
        first.join(10)


def test_spacing_beyond_a_budget_is_not_waited_for(subject: Subject) -> None:
    with serving(lambda number, seen: OK) as server:
        endpoint = Endpoint(url=server.url, model="m", interval_s=10.0)
        subject.client.post(endpoint, "rerank", {})
        with pytest.raises(ModelUnavailable, match="busy"):
            subject.client.post(endpoint, "rerank", {}, patience=Patience(tries=2, budget_s=3.0))
    assert subject.pauses == []


def test_requests_are_spaced(subject: Subject) -> None:
    with serving(lambda number, seen: OK) as server:
        for _ in range(3):
            subject.post(server.url, interval_s=1.5)
    assert subject.pauses == [1.5, 1.5]


def test_requests_to_one_server_wait_for_each_other() -> None:
    under_way = most = 0

    def answer(number: int, seen: Seen) -> Told:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        time.sleep(0.02)
        under_way -= 1
        return OK

    client = Client()
    with serving(answer) as server:
        endpoint = Endpoint(url=server.url, model="m")
        threads = [Thread(target=client.post, args=(endpoint, "embeddings", {})) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        client.close()
    assert (len(server.seen), most) == (5, 1)


def test_a_server_that_is_not_there_is_told(subject: Subject) -> None:
    with serving(failing()) as server:
        url = server.url
    with pytest.raises(ModelUnavailable, match="cannot be reached: ") as caught:
        subject.post(url)
    assert (status_of(caught.value), len(subject.calls)) == (None, 4)


def test_a_server_that_never_answers_costs_its_time_and_no_more() -> None:
    client = Client()
    began = time.monotonic()
    with serving(lambda number, seen: Told(hangs=True)) as server:
        with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.3 s"):
            client.post(Endpoint(url=server.url, model="m", timeout_s=0.3), "x", {}, patience=Patience(tries=1))
        assert time.monotonic() - began < 5
    client.close()


def test_a_server_that_hung_is_asked_again_on_another_connection() -> None:
    client = Client(pause=lambda seconds: None)
    with serving(lambda number, seen: Told(hangs=True) if number == 1 else OK) as server:
        assert client.post(Endpoint(url=server.url, model="m", timeout_s=3), "x", {}) == OK.body
    client.close()


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"data": [', b"[" * 100_000])
def test_a_reply_that_is_no_json_is_refused(subject: Subject, body: bytes) -> None:
    with serving(lambda number, seen: Told(body=body)) as server, pytest.raises(BadModelReply, match="is not JSON"):
        subject.post(server.url)
    assert len(server.seen) == 1


def test_an_error_under_status_200_is_an_error(subject: Subject) -> None:
    told = Told(body={"error": {"message": "no such model"}})
    with serving(lambda number, seen: told) as server, pytest.raises(BadModelReply, match="status 200") as caught:
        subject.post(server.url)
    assert detail_of(caught.value) == "no such model"


def test_a_redirect_is_not_followed(subject: Subject) -> None:
    moved = Told(status=307, headers={"Location": "http://127.0.0.1:9/"})
    with serving(lambda number, seen: moved) as server, pytest.raises(BadModelReply, match="points to another address"):
        subject.post(server.url)
    assert len(server.seen) == 1


def test_proxies_are_not_for_this_computer(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(lambda number, seen: OK) as server:
        assert subject.post(server.url) == OK.body


def test_a_certificate_that_nobody_vouches_for_is_refused(subject: Subject, tmp_path: Path) -> None:
    if not shutil.which("openssl"):
        pytest.skip("makes its certificate with openssl")
    files = ["-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "certificate")]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subprocess.run(["openssl", "req", "-x509", *kind, *files, *name], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    with serving(lambda number, seen: OK, tls) as server, pytest.raises(ModelUnavailable, match="no secure connection"):
        subject.post(server.url.replace("http:", "https:"))
    assert server.seen == []


def test_neither_keys_nor_texts_are_told(subject: Subject, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = Told(status=503, body={"error": f"cannot take 'text of a document' of {KEY}"})
    with serving(lambda number, seen: echo) as server, pytest.raises(ModelError) as caught:
        subject.post(server.url)
    told = f"{caught.value} {caught.value.message} {caplog.text} {subject.calls}"
    assert KEY not in told
    assert "text of a document" not in told


@pytest.mark.parametrize("status", [200, 400, 401, 503])
def test_a_server_that_repeats_the_key_does_not_make_it_known(subject: Subject, status: int) -> None:
    echo = Told(status=status, body={"error": {"message": f"no such key: Bearer {KEY} (of yours)"}})
    with serving(lambda number, seen: echo) as server, pytest.raises(ModelError) as caught:
        subject.post(server.url)
    assert "of yours" in detail_of(caught.value)
    assert KEY not in str(caught.value.params)


def test_every_try_is_counted(subject: Subject) -> None:
    with serving(failing(503)) as server:
        subject.post(server.url)
    failed, done = subject.calls
    assert (failed.error, failed.tokens, failed.texts) == ("503", 0, 1)
    assert (done.error, done.tokens, done.is_estimate, done.model) == ("", 7, False, "m")


def test_tokens_that_are_not_told_are_estimated(subject: Subject) -> None:
    with serving(lambda number, seen: Told(body={"data": []})) as server:
        subject.post(server.url)
    assert (subject.calls[0].tokens, subject.calls[0].is_estimate) == (4, True)
