"""Fixtures for all tests; this file also lets every test import the modules that lie beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Return an empty folder of documents with a library over it."""
    return Shelf(tmp_path)
