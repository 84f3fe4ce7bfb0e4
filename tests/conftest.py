"""Fixtures for all tests; this file also lets every test import the modules that lie beside it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from shelf import Shelf


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden results anew; review the diff")


@pytest.fixture(autouse=True, scope="session")
def _no_model() -> Iterator[None]:
    """Let bases be searched by words only, unless a test says otherwise: loading a model takes half a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZHIKU_EMBEDDER", "none")
        yield


@pytest.fixture(autouse=True, scope="session")
def _signals() -> None:
    """Let commands that the tests start be interrupted: what runs in the background of a script is not, nor they."""
    for name in ("SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Return an empty folder of documents with a library over it."""
    return Shelf(tmp_path)
