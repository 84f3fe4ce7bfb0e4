"""Numbers of spreadsheets are shown as their formats say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zhiku.text.cell_format import BUILTIN_FORMATS, show_general, show_number

DAY = 47_974  # 6 May 2031


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1200, "", "1200"),
        (0.1 + 0.2, "General", "0.3"),
        (1e20, "", "1E+20"),
        (12, 'General" kg"', "12 kg"),
        (1200, "#,##0.00", "1,200.00"),
        (1_234_567.891, "#,##0", "1,234,568"),
        (12, "000", "012"),
        (1.005, "0.00", "1.01"),
        (3.14159, "0.0##", "3.142"),
        (1, "#.##", "1"),
        (0.125, "0.0%", "12.5%"),
        (0.07, "0%", "7%"),
        (1200, '"¥"#,##0.00', "¥1,200.00"),
        (1200, "[$¥-804]#,##0.00", "¥1,200.00"),
        (7, "0.00 €", "7.00 €"),
        (3, '0 "天"', "3 天"),
        (1_234_567, '0.0,,"M"', "1.2M"),
        (123_456_789, "000-00-0000", "123-45-6789"),
        (12_345, "0.00E+00", "1.23E+04"),
        (1e-7, "0.0E+0", "1.0E-7"),
        (-5, "0", "-5"),
        (-0.4, "0", "0"),
        (-1200.5, "#,##0.00;[Red]-#,##0.00", "-1,200.50"),
        (-5, "0;(0)", "(5)"),
        (0, '_ * #,##0.00_ ;_ * -#,##0.00_ ;_ * "-"??_ ;_ @_ ', "-"),
        (0, "0;-0;;@", ""),
        (5, ";;;", ""),
        (5, "@", "5"),
        (0.5, "# ?/?", "0.5"),
        (5_551_234, "[<=9999999]###-####;(###) ###-####", "5551234"),
    ],
)
def test_a_number_is_shown_as_its_format_says(value: float, code: str, shown: str) -> None:
    assert show_number(value, code) == shown


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (DAY, "yyyy-mm-dd", "2031-05-06"),
        (DAY, "d/m/yy", "6/5/31"),
        (DAY, "dddd, d mmmm yyyy", "Tuesday, 6 May 2031"),
        (DAY, "ddd d mmm", "Tue 6 May"),
        (DAY, "[$-804]aaaa", "星期二"),
        (DAY, '[$-804]yyyy"年"m"月"d"日";@', "2031年5月6日"),
        (DAY, BUILTIN_FORMATS[31], "2031年5月6日"),
        (DAY, BUILTIN_FORMATS[14], "2031-05-06"),
        (DAY, "[$-F800]dddd, mmmm dd, yyyy", "2031-05-06"),
        (DAY + 0.75, "yyyy-mm-dd hh:mm", "2031-05-06 18:00"),
        (DAY + 0.75, "h:mm AM/PM", "6:00 PM"),
        (DAY + 0.75, BUILTIN_FORMATS[35], "下午6时00分00秒"),
        (DAY + 0.5, "yyyy\\-mm\\-dd\\Thh:mm:ss", "2031-05-06T12:00:00"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (0.123456, "mm:ss.0", "57:46.6"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (-1, "yyyy-mm-dd", "-1"),
        (1e300, "yyyy-mm-dd", "1E+300"),
    ],
)
def test_a_date_is_shown_as_its_format_says(value: float, code: str, shown: str) -> None:
    assert show_number(value, code) == shown


def test_days_may_count_from_1904() -> None:
    assert show_number(DAY - 1462, "yyyy-mm-dd", from_1904=True) == "2031-05-06"


PIECES = '0 # ? , . % E+00 ; ; @ _ * " \\ [Red] [>5] [h] [$¥-804] General yyyy m d hh mm ss AM/PM 年 / - ( )'.split()


@given(
    st.lists(st.sampled_from([*PIECES, " "]), max_size=12).map("".join),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_format_shows_any_number_somehow(code: str, value: float) -> None:
    assert isinstance(show_number(value, code), str)


@given(st.integers(-(10**14), 10**14))
def test_whole_numbers_are_shown_in_full(value: int) -> None:
    assert show_general(value) == show_number(value, "0") == str(value)
