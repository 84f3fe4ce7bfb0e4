"""Where the hostile files lie that are not ours to pass on: each breaks some reader of its format."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("ZHIKU_NASTY") or Path(__file__).parents[2] / "shared" / "nasty")

needs_hostile_files = pytest.mark.skipif(
    not (FOLDER / "MANIFEST.tsv").is_file(),
    reason=f"no hostile files with a MANIFEST.tsv in {FOLDER}; ZHIKU_NASTY names their folder",
)
