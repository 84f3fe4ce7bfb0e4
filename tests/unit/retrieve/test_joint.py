"""Several bases rank as one base that holds everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from shelf import Shelf

TEXTS = {
    "a/1.md": "# 水泵\n\n水泵的安装：先断电，再拆盖板。",
    "a/2.md": "# 阀门\n\n阀门和水泵一样，要先断电。gate-sync opens the gate.",
    "a/水泵.txt": "记录一",
    "b/1.md": "# 备份\n\n每周一次，恢复演练每月一次。水泵无关。",
    "b/2.md": "The gate opens when the pump stops. " * 30,
    "b/3.md": "断电以后再拆盖板。" * 40,
}


@pytest.mark.parametrize("query", ["水泵", "断电", "how does the gate open", "水泵 断电 盖板", "gate-sync", "恢复演练"])
def test_two_bases_rank_as_one_that_holds_both(tmp_path: Path, query: str) -> None:
    together, apart = Shelf(tmp_path / "together"), Shelf(tmp_path / "apart")
    for shelf in (together, apart):
        for path, text in TEXTS.items():
            shelf.write(path, text)
    for part in ("a", "b"):
        together.index(together.docs / part)
        apart.index(apart.docs / part, name=part)

    assert [hit.text for hit in apart.search(query)] == [hit.text for hit in together.search(query)]


def test_one_base_searched_with_an_empty_one_ranks_as_alone(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for path, text in TEXTS.items():
        shelf.write(path, text)
    (shelf.docs / "empty").mkdir()
    shelf.index(name="full")
    alone = shelf.found("水泵 断电")
    shelf.index(shelf.docs / "empty", name="none")

    assert shelf.found("水泵 断电") == alone
