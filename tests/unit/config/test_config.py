"""Settings are checked where they enter."""

from __future__ import annotations

from pathlib import Path

import pytest

from zhiku.config import (
    BASE_FILE,
    CONFIG_FILE,
    BaseSettings,
    base_key,
    check_base_name,
    home_from,
    language_from,
    load_base_settings,
    load_settings,
    save_base_settings,
)
from zhiku.errors import ConfigError


def settings_of(folder: Path, text: str) -> object:
    (folder / CONFIG_FILE).write_text(text, "utf-8")
    return load_settings(folder)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    settings = load_settings(tmp_path)
    assert (settings.search.top_k, settings.index.max_text_bytes) == (10, 20_000_000)


def test_library_roots_are_kept_as_they_are_written(tmp_path: Path) -> None:
    assert load_settings(tmp_path).library.roots == ()
    (tmp_path / CONFIG_FILE).write_text('[library]\nroots = ["~/kb", "/b"]\n')
    assert load_settings(tmp_path).library.roots == ("~/kb", "/b")


def test_what_is_set_replaces_its_default_alone(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE).write_text("[index]\nmax_pdf_bytes = 5\n")
    settings = load_settings(tmp_path)
    assert (settings.index.max_pdf_bytes, settings.index.max_text_bytes) == (5, 20_000_000)


def test_a_setting_is_switched_off_by_false(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE).write_text("[watch]\nauto_scan = false\n")
    settings = load_settings(tmp_path)
    assert (settings.watch.auto_scan, settings.watch.auto_embed, settings.watch.scan_interval) == (False, True, 60)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[indx]\n", "unknown setting 'indx'", "did you mean 'index'?"),
        ("[index]\nmax_txt_bytes = 5\n", "unknown setting 'max_txt_bytes'", "did you mean 'max_text_bytes'?"),
        (
            "[search]\nzzz = 5\n",
            "unknown setting 'zzz'",
            "known are: top_k, enable_rerank, rerank, rerank_top_k, rerank_timeout",
        ),
        ("[search]\ntop_k = 'ten'\n", "top_k cannot be 'ten'", "its default is 10"),
        ("[search]\ntop_k = 0\n", "top_k cannot be 0", "its default is 10"),
        ("[search]\ntop_k = true\n", "top_k cannot be True", "its default is 10"),
        ("[watch]\nscan_interval = 0\n", "scan_interval cannot be 0", "its default is 60"),
        ("[watch]\nauto_embed = 1\n", "auto_embed cannot be 1", "its default is true"),
        ("search = 3\n", "search must be a table", "write its settings below [search]"),
        ("[search\n", "not valid TOML", "mend that line"),
    ],
)
def test_a_wrong_setting_is_an_error_with_a_hint(tmp_path: Path, text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        settings_of(tmp_path, text)
    assert caught.value.hint == hint
    assert str(tmp_path / CONFIG_FILE) in caught.value.message


@pytest.mark.parametrize("data", [b"\xff\xfe[", b"a = '\x80'"])
def test_a_file_that_is_no_text_is_an_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / CONFIG_FILE).write_bytes(data)
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load_settings(tmp_path)


def test_a_file_that_cannot_be_opened_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE).mkdir()
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        load_settings(tmp_path)
    assert "Errno" not in caught.value.message
    assert caught.value.hint


def test_the_default_of_a_list_is_shown_as_the_file_would_have_it(tmp_path: Path) -> None:
    (tmp_path / BASE_FILE).write_text('roots = "x"\n')
    with pytest.raises(ConfigError) as caught:
        load_base_settings(tmp_path)
    assert caught.value.hint == "its default is []"


def test_windows_of_lines_may_overlap_by_none_but_hold_some(tmp_path: Path) -> None:
    (tmp_path / BASE_FILE).write_text("chunk_lines = 20\noverlap_lines = 0\n")
    settings = load_base_settings(tmp_path)
    assert (settings.chunk_lines, settings.overlap_lines) == (20, 0)
    for wrong in ("chunk_lines = 0", "overlap_lines = -1", "overlap_lines = 1.5"):
        (tmp_path / BASE_FILE).write_text(wrong)
        with pytest.raises(ConfigError, match="cannot be"):
            load_base_settings(tmp_path)


def test_hidden_sheets_are_left_out_unless_a_base_says_otherwise(tmp_path: Path) -> None:
    assert load_base_settings(tmp_path).hidden_sheets is False
    for value, expected in (("false", False), ("true", True)):
        (tmp_path / BASE_FILE).write_text(f"hidden_sheets = {value}\n")
        assert load_base_settings(tmp_path).hidden_sheets is expected
    (tmp_path / BASE_FILE).write_text("hidden_sheets = 1\n")
    with pytest.raises(ConfigError, match="hidden_sheets cannot be 1"):
        load_base_settings(tmp_path)


def test_base_settings_are_read_as_they_were_saved(tmp_path: Path) -> None:
    settings = BaseSettings(roots=("/笔记", "/b"), intro="说明", include=("*.x",), exclude=("y/",))
    save_base_settings(tmp_path, settings)
    assert load_base_settings(tmp_path) == settings


def test_comments_in_base_settings_are_kept(tmp_path: Path) -> None:
    (tmp_path / BASE_FILE).write_text('# 我的笔记\nroots = ["/a"]  # first\nexclude = ["x/"]\n', "utf-8")
    save_base_settings(tmp_path, BaseSettings(roots=("/a", "/b"), exclude=("x/",)))
    text = (tmp_path / BASE_FILE).read_text("utf-8")
    assert text.startswith("# 我的笔记\n")
    assert load_base_settings(tmp_path).roots == ("/a", "/b")


def test_the_home_is_told_by_the_environment(tmp_path: Path) -> None:
    assert home_from({"ZHIKU_HOME": str(tmp_path)}) == tmp_path
    assert home_from({"ZHIKU_HOME": ""}) == Path.home() / ".zhiku"
    assert home_from({"ZHIKU_HOME": "here"}).is_absolute()


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "C.UTF-8", "LANG": "zh_TW.UTF-8"}, "zh"),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"ZHIKU_LANG": "zh", "LC_ALL": "en_US.UTF-8"}, "zh"),
        ({"ZHIKU_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
    ],
)
def test_the_language_is_that_of_the_first_variable_that_says_something(environ: dict[str, str], language: str) -> None:
    assert language_from(environ) == language


def test_a_base_name_is_composed() -> None:
    assert check_base_name("re\u0301sume\u0301") == "résumé"


def test_names_that_mean_one_base_have_one_key() -> None:
    assert base_key("CAFE\u0301") == base_key("Café") != base_key("Cafe")
