"""How bytes become text."""

from __future__ import annotations

import codecs
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.errors import ParseFailed
from zhiku.text.decode import Decoded, decode, looks_like_text, without_controls

SIMPLIFIED = "采购合同第七条：违约金按日万分之五计算，双方应当在三十日内书面通知对方。"
TRADITIONAL = "這是一份測試文件，內容使用繁體中文與大五碼編碼。功許蓋"
JAPANESE = "このファイルは日本語の文字コードを確かめるために作られました。カタカナもあります。"
KOREAN = "이 파일은 한국어 문자 집합을 확인하기 위해 만들어진 것입니다."
COMMON = "".join(bytes((lead, trail)).decode("gb2312") for lead in range(0xB0, 0xD7) for trail in range(0xA1, 0xFF))
FREQUENT = "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对"


def test_empty_data_is_empty_text() -> None:
    assert decode(b"") == Decoded("", "utf-8")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "gb18030"])
def test_a_byte_order_mark_is_believed_and_left_out(encoding: str) -> None:
    decoded = decode(("\ufeff" + SIMPLIFIED).encode(encoding))

    assert decoded == Decoded(SIMPLIFIED, encoding)


def test_a_second_mark_is_left_out_too() -> None:
    assert decode(codecs.BOM_UTF8 * 2 + b"text").text == "text"


def test_a_mark_before_other_bytes_is_not_believed() -> None:
    decoded = decode(codecs.BOM_UTF8 + b"abc\n" + SIMPLIFIED.encode("gbk"))

    assert decoded.text == f"abc\n{SIMPLIFIED}"


@pytest.mark.parametrize(
    ("text", "written", "named"),
    [
        (SIMPLIFIED, "gbk", "gb18030"),
        ("联系人：王小明", "gb2312", "gb18030"),
        ("㐂堂题字与𠮷野家收据。\n", "gb18030", "gb18030"),
        ("品名,单价\r\n垫片,3.5\r\n", "gbk", "gb18030"),
        (TRADITIONAL, "big5", "big5hkscs"),
        (JAPANESE, "shift_jis", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (JAPANESE, "iso2022_jp", "iso2022_jp_ext"),
        (KOREAN, "euc_kr", "cp949"),
        (KOREAN, "iso2022_kr", "iso2022_kr"),
        (SIMPLIFIED, "hz", "hz"),
        ("仪器清单\n量子罗盘一台", "utf-16-le", "utf-16-le"),
        ("仪器清单\n量子罗盘一台", "utf-16-be", "utf-16-be"),
        ("plain words in wide bytes", "utf-16-le", "utf-16-le"),
        ("Les élèves sont allés à l’école, où ils étaient très heureux.", "cp1252", "cp1252"),
        ("Die Größe der Straße wurde für das Gebäude geprüft.", "cp1252", "cp1252"),
        ("Настройки программы хранятся в файле, который находится в папке.", "cp1251", "cp1251"),
        ("Настройки программы хранятся в файле, который находится в папке.", "mac_cyrillic", "mac_cyrillic"),
        ("Настройки программы хранятся в файле, который находится в папке.", "cp855", "cp855"),
        ("文档\n├── 目录\n│   └── 文件.txt\n└── 说明", "gbk", "gb18030"),
    ],
)
def test_an_encoding_is_told_from_the_bytes_alone(text: str, written: str, named: str) -> None:
    decoded = decode(text.encode(written))

    assert (decoded.text, decoded.encoding) == (text.replace("\r\n", "\n"), named)
    assert not decoded.warnings


def test_code_with_a_tilde_and_a_brace_is_not_hz() -> None:
    code = "x = ~{ab~}; y = ~{zz~};"

    assert decode(code.encode()).text == code


def test_short_ascii_is_never_taken_for_utf16() -> None:
    assert decode(b"Bush hid the facts").text == "Bush hid the facts"


def test_a_large_file_is_judged_by_its_beginning_and_decoded_whole() -> None:
    text = "first line in ASCII\n" * 5000 + f"{SIMPLIFIED}\n" * 4000

    assert decode(text.encode("gbk")).text == text


def test_lines_of_two_encodings_in_one_log_are_decoded_each_for_itself() -> None:
    data = "2024-01-01 启动成功\n".encode() * 40 + "2024-01-02 连接超时，正在重试\n".encode("gbk") * 6

    decoded = decode(data)

    assert decoded.encoding == "mixed utf-8/gb18030"
    assert decoded.warnings == ("lines in different encodings: utf-8/gb18030",)
    assert decoded.text == "2024-01-01 启动成功\n" * 40 + "2024-01-02 连接超时，正在重试\n" * 6


def test_a_short_gbk_line_that_is_also_utf8_stays_gbk() -> None:
    text = f"通\n{SIMPLIFIED}\n开通\n"

    assert decode(text.encode("gbk")).text == text


@pytest.mark.parametrize("encoding", ["utf-8", "gbk", "big5", "utf-16-le"])
def test_a_character_cut_at_the_end_is_left_out_with_a_warning(encoding: str) -> None:
    text = TRADITIONAL if encoding == "big5" else SIMPLIFIED
    data = text.replace("。", "圓" if encoding == "big5" else "元").encode(encoding)[:-1]

    decoded = decode(data)

    assert len(text) - len(decoded.text) == 1
    assert "cut off" in decoded.warnings[0]
    assert "\ufffd" not in decoded.text


def test_an_accent_at_the_end_is_not_a_cut_character() -> None:
    decoded = decode("La réponse est oui, et le prix du café".encode("cp1252"))

    assert decoded.text.endswith("café")


def test_a_damaged_byte_is_counted_in_a_warning() -> None:
    data = f"{SIMPLIFIED}\n".encode() * 3
    decoded = decode(data[:60] + b"\xff" + data[60:])

    assert decoded.encoding == "utf-8"
    assert decoded.text.replace("\ufffd", "") == f"{SIMPLIFIED}\n" * 3
    assert decoded.warnings == ("1 characters could not be decoded and were replaced by U+FFFD",)


@pytest.mark.parametrize("text", ["Внимание: вы получили это письмо. ", "Προσοχή: λάβατε αυτό το μήνυμα. "])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_damaged_byte_in_a_text_of_two_byte_characters_does_not_make_it_chinese(text: str, end: str) -> None:
    data = f"{text}{end}".encode() * 30

    decoded = decode(data[:1] + b"f" + data[2:])

    assert decoded.encoding == "utf-8"
    assert decoded.text.count(text) == 29
    assert "could not be decoded" in decoded.warnings[0]


def test_a_short_damaged_line_does_not_change_the_encoding_of_the_others() -> None:
    text = "Внимание: вы получили это письмо.\n" * 30

    decoded = decode(text.encode() + "Цена".encode()[:-1] + b"f\n" + text.encode())

    assert decoded.text.count(text) == 2


def test_a_replacement_character_of_the_author_is_not_counted() -> None:
    assert decode("这里本来就有 \ufffd 一个".encode()).warnings == ()


def test_a_damaged_byte_in_gbk_does_not_change_the_encoding() -> None:
    data = f"{SIMPLIFIED}\n".encode("gbk") * 20

    decoded = decode(data[: len(data) // 2] + b"\xff" + data[len(data) // 2 :])

    assert decoded.encoding == "gb18030"
    assert decoded.text.count(SIMPLIFIED) >= 19
    assert "could not be decoded" in decoded.warnings[0]


def test_a_true_label_decides_where_the_bytes_do_not() -> None:
    assert decode("ąęż".encode("iso8859_2"), declared="iso-8859-2") == Decoded("ąęż", "iso8859-2")


@pytest.mark.parametrize("declared", ["gbk", "shift_jis", "iso-8859-1"])
def test_a_label_never_beats_valid_utf8(declared: str) -> None:
    assert decode(SIMPLIFIED.encode(), declared=declared) == Decoded(SIMPLIFIED, "utf-8")


@pytest.mark.parametrize("declared", ["iso-8859-1", "utf-8", "koi8-r", "nonsense", ""])
def test_no_other_label_beats_a_little_utf8(declared: str) -> None:
    assert decode("é".encode(), declared=declared) == Decoded("é", "utf-8")


def test_a_few_chinese_characters_that_are_utf8_by_chance_are_what_their_label_says() -> None:
    assert decode("通知".encode("gbk"), declared="gb2312") == Decoded("通知", "gb18030")


def test_text_that_was_decoded_elsewhere_is_cleaned_alike() -> None:
    assert without_controls("\x1b[31mred\x1b[0m\r\na\x00b\rc\ud800\td") == "red\na b\nc\ufffd\td"
    assert without_controls("as it is\n") == "as it is\n"


@pytest.mark.parametrize("label", ["gb2312", "GBK", "x-gbk"])
def test_a_label_is_widened_to_what_files_really_use(label: str) -> None:
    assert decode("镕基、喆、堃、𠮷".encode("gb18030"), declared=label).text == "镕基、喆、堃、𠮷"


def test_nul_characters_become_spaces_with_a_warning_and_lines_stay() -> None:
    decoded = decode("前段 alpha\0beta 后段\n\n密封圈更换记录。\n".encode())

    assert decoded.text == "前段 alpha beta 后段\n\n密封圈更换记录。\n"
    assert decoded.warnings == ("1 NUL characters",)


def test_a_log_with_a_block_of_zeros_after_a_crash_is_still_text() -> None:
    decoded = decode(b"started\n" * 50 + bytes(4096) + b"restarted\n" * 50)

    assert decoded.text.count("started") == 100
    assert decoded.warnings == ("4096 NUL characters",)


def test_other_controls_become_spaces_and_form_feeds_stay() -> None:
    assert decode(b"one\x01two\x0bthree\x0cfour\tfive" * 2).text == "one two three\ffour\tfive" * 2


def test_colour_codes_do_not_stick_to_words() -> None:
    assert decode(b"\x1b[1;31mERROR\x1b[0m disk full").text == "ERROR disk full"


def test_every_kind_of_line_end_becomes_one_newline() -> None:
    assert decode(b"a\r\nb\rc\nd\r\r\ne").text == "a\nb\nc\nd\n\ne"


def test_other_separators_are_not_line_ends() -> None:
    text = "a\u2028b\u0085c\u2029d\fe"

    assert decode(text.encode()).text == text


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01",
        bytes(range(256)) * 8,
        bytes(1000),
        b"\x01\0\0\0\x02\0\0\0\x10\0\0\0" * 50,
        b"PK\x03\x04\x14\0\x08\x08\x08\0\xa5\x8c\xf3",
    ],
)
def test_binary_data_is_refused_with_the_name_of_the_file(data: bytes) -> None:
    with pytest.raises(ParseFailed, match=r"notes\.txt is a binary file"):
        decode(data, path="notes.txt")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"#!/bin/sh\necho",
        SIMPLIFIED.encode(),
        SIMPLIFIED.encode("gbk"),
        SIMPLIFIED.encode("utf-16"),
        SIMPLIFIED.encode("utf-16-le"),
        b"\x1b[31mred\x1b[0m and so on",
        b"MZ is how this sentence begins",
    ],
)
def test_text_looks_like_text(head: bytes) -> None:
    assert looks_like_text(head)


@pytest.mark.parametrize(
    "head",
    [
        b"%PDF-1.7\n",
        b"PK\x03\x04",
        b"\x89PNG\r\n",
        b"GIF89a",
        b"\xff\xd8\xff\xe0",
        b"\x7fELF\x02",
        b"MZ\x90\0\x03\0\0\0\x04\0",
        b"\x1f\x8b\x08\0",
        b"SQLite format 3\0",
        b"some words\0and more",
        bytes(range(1, 256)),
    ],
)
def test_other_files_do_not_look_like_text(head: bytes) -> None:
    assert not looks_like_text(head)


def test_only_alphabetic_text_loads_the_detector_of_code_pages() -> None:
    script = (
        "import sys; from zhiku.text.decode import decode;"
        f"decode({SIMPLIFIED.encode()!r}); decode({SIMPLIFIED.encode('gbk')!r});"
        "assert 'charset_normalizer' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", script], check=True, timeout=180)


plain_text = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff~"))


@settings(max_examples=100, deadline=None)
@given(plain_text)
def test_utf8_comes_back_as_it_was(text: str) -> None:
    assert decode(text.encode()) == Decoded(text, "utf-8")


@settings(max_examples=100, deadline=None)
@given(plain_text)
def test_marked_utf16_comes_back_as_it_was(text: str) -> None:
    assert decode(text.encode("utf-16")).text == text


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(COMMON), max_size=15),
    st.lists(st.sampled_from(FREQUENT), min_size=30, max_size=300),
)
def test_thirty_common_characters_are_enough_to_tell_gb18030(common: list[str], frequent: list[str]) -> None:
    text = "".join(common + frequent)

    assert decode(text.encode("gb18030")).text == text


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_clean_text_or_a_refusal(data: bytes) -> None:
    try:
        decoded = decode(data)
    except ParseFailed:
        return
    assert not set(decoded.text) & {*map(chr, range(9)), "\r", "\x0b", "\x1b"}
    if "\ufffd" in decoded.text and "\ufffd".encode() not in data:
        assert decoded.warnings or decoded.encoding.startswith("utf-16")
