"""Know how usual a character is in running Chinese, Japanese or Korean text, to tell encodings apart."""

from __future__ import annotations

from functools import cache
from typing import Final, Literal

Script = Literal["zh", "ja", "ko", "any"]
"""What an encoding was made for; "any" for Unicode encodings."""

# The two hundred-odd characters that make up half of running Chinese, with the traditional forms that differ.
_FREQUENT_HANZI: Final = frozenset(
    "的一是不了在有人我这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后"
    "小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已从动两长"
    "知民样现分将外但身些与高意进把法此实回二理点月明其种全工己者向情部正名定女问力机给等几很业最间新"
    "什打便位因重被走电四第门相次东政海口使教西再平真世气信少关并内加化由却代产入先山五太水万市号"
    "或由系统数据文件使用设置表单位报告合管理目录章节项请及应该项更条件服务费用时间日期图计量书记"
    "這來個國說們為時會對學過後裡麼沒於還發當無開見經頭動兩長樣現將與進實點種問機給幾業間"
    "電門東氣關並內產萬號統數據設單報錄節項請應該條務費圖書記體線網頁題從變變處員義區結總"
)
_FREQUENT_HANGUL: Final = frozenset(
    "이다는에의을가고하지를은로기한사도어리자인시대과서일있부정아나전수제그라해장스상주"
)
_PUNCTUATION: Final = frozenset("，。、；：？！“”‘’（）《》〈〉「」『』【】…—·～　％￥")


def weigh(char: str, script: Script) -> float:
    """Return how usual a character above ASCII is in text of a script: 3 very, 0 neither, below 0 suspect."""
    if char in _FREQUENT_HANZI:
        return 3.0
    if char in _PUNCTUATION:
        return 2.0
    if "\u3040" <= char <= "\u30ff":
        return _weigh_kana(char, script)
    if "\uac00" <= char <= "\ud7a3":
        return _weigh_hangul(char, script)
    if "\u3400" <= char <= "\u9fff":
        return _weigh_hanzi(char, script)
    if "\uff01" <= char <= "\uff5e":
        return 0.8
    if "\u2100" <= char <= "\u266f":
        # Arrows, circled numbers, the lines of a directory tree.
        return 1.8 if "\u2500" <= char <= "\u257f" else 0.5
    if "\ue000" <= char <= "\uf8ff" or char == "\ufffd" or char >= "\U00020000":
        return -3.0
    return -1.0


def _weigh_kana(char: str, script: Script) -> float:
    if script == "zh":
        # EUC-JP and GB 2312 share the row of the kana, so kana must not speak for Chinese.
        return 0.2
    return 2.9 if char <= "\u309f" else 2.0


def _weigh_hangul(char: str, script: Script) -> float:
    if script in ("zh", "ja") or char not in _hangul():
        return -1.0
    return 3.0 if char in _FREQUENT_HANGUL else 1.18


def _weigh_hanzi(char: str, script: Script) -> float:
    if script == "ko":
        return -0.8
    known = (char in _simplified()) + (char in _traditional())
    if script == "ja":
        return 0.9 if char in _kanji() else -0.4
    return (-0.4, 1.0, 1.2)[known]


def _cells(encoding: str, leads: range) -> frozenset[str]:
    """Return the ideographs and syllables that a double-byte codec has under the given lead bytes."""
    chars = set()
    for lead in leads:
        for trail in range(0x40, 0xFF):
            cell = bytes((lead, trail)).decode(encoding, errors="ignore")
            if len(cell) == 1 and cell >= "\u3400":
                chars.add(cell)
    return frozenset(chars)


@cache
def _simplified() -> frozenset[str]:
    """GB 2312 level 1, rows 16 to 55: the 3,755 most used characters."""
    return _cells("gb2312", range(0xB0, 0xD8))


@cache
def _traditional() -> frozenset[str]:
    """Big5 level 1: the 5,401 most used characters."""
    return _cells("big5", range(0xA4, 0xC7))


@cache
def _kanji() -> frozenset[str]:
    """JIS X 0208 level 1, rows 16 to 47: the 2,965 most used characters."""
    return _cells("euc_jp", range(0xB0, 0xD0))


@cache
def _hangul() -> frozenset[str]:
    """The 2,350 syllables of KS X 1001."""
    return _cells("euc_kr", range(0xB0, 0xC9))
