"""Every hostile file of a format that is read gives what its MANIFEST.tsv says, and the others go on."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from hostile import FOLDER, needs_hostile_files
from shelf import Shelf
from zhiku.ingest.rules import UNSUPPORTED_ENDINGS
from zhiku.registry import FORMAT_ENDINGS

pytestmark = needs_hostile_files

MAX_S = 120
"""For all of them together; a file that is not bounded takes longer by itself."""

# By the words of the manifest, in comments; the codes are what zhiku calls them.
FAILED = {
    # failed(corrupt), failed(page), where no other page is left
    "REDHAT-1531897-0.pdf": "damaged",
    "bug1250079.pdf": "damaged",
    "poppler-395-0-fuzzed.pdf": "damaged",
    "poppler-742-0-fuzzed.pdf": "damaged",
    "poppler-937-0-fuzzed.pdf": "damaged",
    "truncated62886.docx": "damaged",
    # report type mismatch
    "html_named.pdf": "damaged",
    # refused(DTD)
    "ExternalEntityInText.docx": "damaged",
    "billion_laughs.docx": "damaged",
    "xxe_file.docx": "damaged",
    "poc-xmlbomb.xlsx": "damaged",
    # refused(zip bomb), refused by ratio
    "manyparas_3M.docx": "too_large",
    "zipbomb.docx": "too_large",
    # cap on output characters
    "poc-shared-strings.xlsx": "too_large",
    # failed(password), failed(encrypted)
    "bug53475-password-is-pass.docx": "password",
    "issue6010_1.pdf": "password",
    "testPDF_no_extract_yes_accessibility_owner_user.pdf": "password",
    "testUnicodePassword.pdf": "password",
    # chapter failed(encrypted), href refused: no other chapter is left
    "zipslip_drm.epub": "password",
    # failed(unsupported filter)
    "Brotli-Prototype-FileA.pdf": "unsupported",
    # failed(crash), failed(resource)
    "form_recursion.pdf": "crashed",
    "bomb_flate3.pdf": "memory",
}
READ = {
    # failed(page): the damaged page is named, and does not cost the other
    "Pages-tree-refs.pdf": "Testcase: ’Pages loop’",
    "page_cycle.pdf": "hello",
    # text
    "XiaoBiaoSong.pdf": "关于红军作战的原则",
    "bomb_giant.pdf": "GIANT JBIG2 BOMB",
    "deep_array.pdf": "hello",
    "hidden_text.pdf": "IGNORE PREVIOUS INSTRUCTIONS",
    "huge_page.pdf": "hello",
    "issue19800.pdf": "Hello world",
    "issue9418.pdf": "Project Name and Address",
    "poppler-91414-0-53.pdf": "foobar",
    "short_digital.pdf": "李雷一等奖",
    "Strict.docx": "Some text",
    "bug65649.docx": "Комитет по информатизации и связи",
    "deep_nest_tables.docx": "deep",
    "drawingml.docx": "Text 2",
    "testWORD_text_box.docx": "inside of a text box",
    "textbox.docx": "Case closed.",
    # cells, with their addresses as lines; a sheet of macros costs no other
    "64420.xlsm": "Content of Sheet B",
    "SimpleStrict.xlsx": "Sheet Number 2",
    "sparse_col.xlsx": "last",
    "sparse_corner.xlsx": "last",
    # mail
    "gbk_raw_header.eml": "镕基、喆、堃",
    "nested_mime.eml": "deep",
    # plain text, decoded as it is
    "big5.txt": "這是一份測試文件",
    "billion_laughs.xml": "<!ENTITY",
    "deep.json": "[[[[",
    "deep_table.html": "x",
    "include_leak.rst": ".. raw:: html",
    "meta_gbk_lie.html": "第一章 概述",
    "mixed_utf8_gbk.log": "启动成功",
    "short_gbk.txt": "联系人：王小明",
    "yaml_bomb.yaml": "[*a,*a,",
}
WARNED = {
    "64420.xlsm": ("Sheets of charts, macros or dialogs that were left out: 1",),
    "Pages-tree-refs.pdf": ("Pages that are damaged: 2",),
    "hidden_text.pdf": ("Pages with text that a reader does not see: 1",),
    "issue19800.pdf": ("Pages with text that a reader does not see: 1",),
    "mixed_utf8_gbk.log": ("lines in different encodings: utf-8/gb18030",),
    "page_cycle.pdf": ("The file states 1000000 pages; only the first 1 were read",),
}
ENCODED = {
    "big5.txt": "big5hkscs",
    "gbk_raw_header.eml": "gb18030",
    "meta_gbk_lie.html": "gb18030",
    "mixed_utf8_gbk.log": "mixed utf-8/gb18030",
    "short_gbk.txt": "gb18030",
}
READ_ENDINGS = frozenset().union(*FORMAT_ENDINGS.values())


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of the files: the codes of those that failed or hold no text, and the texts of the others."""

    codes: dict[str, str]
    texts: dict[str, str]
    warnings: dict[str, tuple[str, ...]]
    encodings: dict[str, str]
    elapsed_s: float
    shelf: Shelf


def _is_read(name: str) -> bool:
    ending = Path(name).suffix
    return ending in READ_ENDINGS or ending not in UNSUPPORTED_ENDINGS


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    shelf = Shelf(tmp_path_factory.mktemp("hostile"))
    for file in FOLDER.iterdir():
        if file.name != "MANIFEST.tsv":
            shutil.copy(file, shelf.docs)
    report = shelf.index()
    documents = shelf.base.documents()
    return Outcome(
        codes={entry.path: entry.code for entry in shelf.base.status().ledger if entry.outcome != "skipped"},
        texts={each.source.path: shelf.base.read(each.source.path).text for each in documents},
        warnings={each.source.path: each.warnings for each in documents if each.warnings},
        encodings={each.source.path: each.encoding for each in documents},
        elapsed_s=report.elapsed_s,
        shelf=shelf,
    )


def test_the_manifest_names_no_file_that_this_test_does_not_know() -> None:
    named = [line.split("\t")[0] for line in (FOLDER / "MANIFEST.tsv").read_text("utf-8").splitlines()[1:]]
    assert sorted(name for name in named if _is_read(name)) == sorted([*FAILED, *READ])


def test_each_file_that_cannot_be_read_fails_by_its_own_code(outcome: Outcome) -> None:
    expected = FAILED
    if sys.platform != "linux":  # where memory has no limit, these end some other way
        expected = {name: code for name, code in FAILED.items() if code not in ("crashed", "memory")}
    assert {name: outcome.codes.get(name) for name in expected} == expected
    assert set(outcome.codes) <= set(FAILED)


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_of_a_file_is_read(outcome: Outcome, name: str) -> None:
    assert READ[name] in outcome.texts[name]


def test_what_was_worked_around_is_told(outcome: Outcome) -> None:
    assert outcome.warnings == WARNED
    assert {name: outcome.encodings[name] for name in ENCODED} == ENCODED


def test_no_file_leaks_another(outcome: Outcome) -> None:
    assert "root:" not in outcome.texts["include_leak.rst"]
    assert set(outcome.texts) == set(READ)


def test_a_hit_on_hidden_text_says_so(outcome: Outcome) -> None:
    (hit,) = [hit for hit in outcome.shelf.search("IGNORE PREVIOUS INSTRUCTIONS") if hit.path == "hidden_text.pdf"]
    assert hit.hidden_text
    assert not any(hit.hidden_text for hit in outcome.shelf.search("红军作战"))


def test_all_of_them_are_done_in_bounded_time(outcome: Outcome) -> None:
    assert outcome.elapsed_s < MAX_S
