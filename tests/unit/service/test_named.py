"""A file that is named by hand and cannot be read is an error before anything is made of it."""

from __future__ import annotations

import pytest

from shelf import Shelf
from zhiku.errors import NeedsOcr, UnsupportedFormat


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.doc", b"text all the same", r"files that end in \.doc are not read"),
        ("PICTURE.GIF", b"", r"files that end in \.gif are not read"),
        ("data.zzz", b"\x00\x01\x02", "is not text"),
    ],
)
def test_a_file_that_nothing_reads_makes_no_base(shelf: Shelf, name: str, content: bytes, said: str) -> None:
    with pytest.raises(UnsupportedFormat, match=said) as caught:
        shelf.index(shelf.write(name, content))
    assert "one of these: .docm .docx" in caught.value.hint
    assert shelf.library.names() == []


def test_a_picture_says_that_only_ocr_reads_it(shelf: Shelf) -> None:
    with pytest.raises(NeedsOcr, match="is a picture, which only OCR reads"):
        shelf.index(shelf.write("PICTURE.PNG", b""))
    assert shelf.library.names() == []


def test_it_makes_no_root_beside_others_and_nothing_is_done(shelf: Shelf) -> None:
    note = shelf.write("a/one.md", "valve")
    shelf.index(note)
    with pytest.raises(UnsupportedFormat):
        shelf.index(shelf.write("b/two.md", "pump"), shelf.write("x.doc", b""))
    assert shelf.base.status().to_dict()["roots"] == [str(note)]
    assert shelf.found("pump") == []


def test_in_a_folder_it_is_left_out(shelf: Shelf) -> None:
    shelf.write("a.md", "valve")
    shelf.write("x.doc", b"")
    report = shelf.index()
    assert (dict(report.skipped), report.failed) == ({"unsupported": 1}, [])


@pytest.mark.parametrize("name", ["README", "a.TXT", "a.unheard-of", "empty", "a.md"])
def test_whatever_looks_like_text_is_read(shelf: Shelf, name: str) -> None:
    assert shelf.index(shelf.write(name, "" if name == "empty" else "valve")).read == 1
