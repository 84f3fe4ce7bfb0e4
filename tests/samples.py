"""Small documents of every format that zhiku reads, for tests that hold for all of them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from docx_files import SAMPLE as DOCX
from docx_files import docx, p, table
from epub_files import SAMPLE as EPUB
from epub_files import epub
from pptx_files import SAMPLE as PPTX
from pptx_files import pptx, shape, title
from sheet_files import ODS, XLS, XLSB, XLSX, xlsx
from zhiku.model import ParsedDocument, Source
from zhiku.ports import Parser
from zhiku.registry import PARSERS, format_of, load

MARKDOWN = """---
title: 泵站手册
tags: [水泵, pumps]
---

# 安装

先断电，再拆盖板。见 [[阀门|阀门说明]]。

```sh
# no heading
run --now
```

| 名称 | 数量 |
| --- | --- |
| 垫片 | 3 |

## 验证

- 一
- 二

> 引文

The end — “fin”.
"""

HTML = """<!doctype html><html><head><title>茶机</title><meta charset="utf-8"><script>var x = 1;</script></head>
<body><h1>烘干机</h1><p>温度不超过 <b>80</b> 度。</p>
<ul><li>开机</li><li>关机</li></ul><table><tr><td>甲</td><td>乙</td></tr></table></body></html>
"""

TEXT = "第一章 总则\n\n甲方应当支付违约金。\n\n  indented\n\n" + "一句很长的话，没有换行。" * 400 + "\n"

GOLDEN = Path(__file__).parent / "golden"
"""By format: documents, and beside each what is to be made of it."""
RESULT = ".result"


def golden(format_name: str) -> dict[str, bytes]:
    """Return the golden documents of a format by name."""
    paths = sorted((GOLDEN / format_name).iterdir())
    return {path.name: path.read_bytes() for path in paths if path.suffix != RESULT}


SAMPLES: dict[str, dict[str, bytes]] = {
    "markdown": {"a.md": MARKDOWN.encode(), "crlf.md": MARKDOWN.replace("\n", "\r\n").encode(), "empty.md": b""},
    "html": {"a.html": HTML.encode(), "bare.htm": "<p>只有一段".encode()},
    "pdf": {"a.pdf": files("zhiku").joinpath("samples/papers/fog-water-study.pdf").read_bytes()},
    "docx": {"a.docx": DOCX, "b.docm": docx(table(("一", "二")) + p("三")), "empty.dotx": docx("")},
    "pptx": {"a.pptx": PPTX, "b.ppsx": pptx(title("一") + shape("二")), "empty.potx": pptx("")},
    "spreadsheet": {"a.xlsx": XLSX, "b.ods": ODS, "c.xls": XLS, "d.xlsb": XLSB, "empty.xlsm": xlsx(("Sheet1", ""))},
    "epub": {"a.epub": EPUB, "empty.epub": epub({"a.xhtml": ""})},
    "notebook": {**golden("notebook"), "empty.ipynb": b"", "bare.ipynb": b'{"cells": []}'},
    "mail": {**golden("mail"), "empty.eml": b""},
    "code": {**golden("code"), "none.py": b"x = 1\n"},
    "plain": {
        "a.txt": TEXT.encode(),
        "gbk.txt": TEXT.encode("gbk"),
        "table.csv": "品名,单价\n垫片,3.5\n".encode(),
        "code.rb": b"def f\n  return 1\nend\n\n\n# done\n",
        "a.rst": "标题\n====\n\n正文\n".encode(),
    },
}
"""By format: file name and content. Every registered parser has some."""

PLACES = [(format_name, path) for format_name, named in SAMPLES.items() for path in named]


def parse(path: str, data: bytes) -> ParsedDocument:
    """Return what the parser for a file of this name makes of some bytes."""
    parser: Parser = load(PARSERS, format_of(path))()
    return parser.parse(source_of(path, data), data)


def source_of(path: str, data: bytes, root: str = "/not/there") -> Source:
    """Return some bytes as a file of this name."""
    return Source(root=root, path=path, size_bytes=len(data), mtime_ns=0, sha256="")


def is_covered(text: str, spans: list[tuple[int, int]]) -> bool:
    """Answer whether every character of a text that is not blank lies in one of the spans."""
    covered = bytearray(len(text))
    for start, end in spans:
        covered[start:end] = b"\1" * (end - start)
    return all(flag or char.isspace() for flag, char in zip(covered, text, strict=True))
