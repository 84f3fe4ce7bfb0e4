"""Small Word documents, made part by part for the tests that need them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Final

_TRANSITIONAL: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT: Final = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_RELATIONS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_NAMESPACES: Final = (
    f'xmlns:r="{_RELATIONS}"'
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    ' xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:v="urn:schemas-microsoft-com:vml"'
)
_PART_NAMES: Final = ("styles", "numbering", "footnotes", "endnotes", "comments")


def docx(
    body: str,
    *,
    parts: Mapping[str, str] | None = None,
    core: str = "",
    files: Mapping[str, bytes] | None = None,
    namespace: str = _TRANSITIONAL,
) -> bytes:
    """Return a document of a body; `parts` are the insides of `styles`, `numbering`, `footnotes` and so on.

    `files` are put in as they are, with a relationship of the main part to each, whose id is its name: to charts, those
    that are called so, and to diagrams.
    """
    parts, files = parts or {}, files or {}
    related = [relation(f"r{name}", name, f"{name}.xml") for name in _PART_NAMES if name in parts]
    related += [relation(name, "chart" if "chart" in name else "diagramData", f"/{name}") for name in files]
    packed = {
        "_rels/.rels": relations(
            [relation("r1", "officeDocument", "word/document.xml"), relation("r2", "core-properties", "core.xml")]
        ),
        "word/_rels/document.xml.rels": relations(related),
        "word/document.xml": root("document", f"<w:body>{body}</w:body>", namespace),
        "core.xml": (
            '<p:coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
            f' xmlns:p="http://schemas.openxmlformats.org/package/2006/metadata/core-properties">{core}'
            "</p:coreProperties>"
        ),
        **{f"word/{name}.xml": root(name, inside, namespace) for name, inside in parts.items()},
    }
    return packed_as_zip({name: text.encode() for name, text in packed.items()} | dict(files))


def packed_as_zip(files: Mapping[str, bytes]) -> bytes:
    """Return a zip file, always the same for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def root(name: str, inside: str, namespace: str = _TRANSITIONAL) -> str:
    """Return a part whose root is `w:name`."""
    return f'<w:{name} xmlns:w="{namespace}" {_NAMESPACES}>{inside}</w:{name}>'


def p(text: str = "", *, style: str = "", props: str = "", runs: str = "") -> str:
    """Return a paragraph of a text, and of the runs after it."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{props}</w:pPr>{run(text) if text else ''}{runs}</w:p>"


def run(text: str, props: str = "") -> str:
    """Return a run of a text."""
    return f'<w:r><w:rPr>{props}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def item(text: str, num_id: int = 1, level: int = 0) -> str:
    """Return a paragraph of a list."""
    return p(text, props=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{num_id}"/></w:numPr>')


def table(*rows: tuple[str, ...]) -> str:
    """Return a table; a cell that is no markup yet is one paragraph."""
    cells = ["".join(f"<w:tc>{cell if cell.startswith('<') else p(cell)}</w:tc>" for cell in row) for row in rows]
    return "<w:tbl><w:tblPr/>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"


def style(style_id: str, name: str, inside: str = "", based_on: str = "") -> str:
    """Return a paragraph style."""
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{style_id}"><w:name w:val="{name}"/>{base}'
        f"<w:pPr>{inside}</w:pPr></w:style>"
    )


def level(place: int, number_format: str, text: str, inside: str = "") -> str:
    """Return a level of a list."""
    return (
        f'<w:lvl w:ilvl="{place}"><w:start w:val="1"/><w:numFmt w:val="{number_format}"/>'
        f'<w:lvlText w:val="{text}"/>{inside}</w:lvl>'
    )


def numbering(*lists: str, shared: Mapping[int, tuple[int, str]] | None = None) -> str:
    """Return the numbering part: list n, from 1, of each text of levels; `shared` are lists of the look of another."""
    looks = "".join(
        f'<w:abstractNum w:abstractNumId="{n}">{levels}</w:abstractNum>' for n, levels in enumerate(lists, 1)
    )
    own = {n: (n, "") for n in range(1, len(lists) + 1)} | dict(shared or {})
    return looks + "".join(
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="{look}"/>{override}</w:num>'
        for n, (look, override) in own.items()
    )


def comment(comment_id: int, text: str, author: str = "王芳") -> str:
    """Return a comment, of one paragraph unless the text is markup."""
    inside = text if text.startswith("<") else p(text)
    return f'<w:comment w:id="{comment_id}" w:author="{author}">{inside}</w:comment>'


def comment_mark(comment_id: int) -> str:
    """Return the run that points at a comment."""
    return f'<w:r><w:commentReference w:id="{comment_id}"/></w:r>'


def chart(title: str = "", axes: Sequence[str] = (), series: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return a part that is a chart; `series` are the categories of each by its name."""

    def titled(text: str) -> str:
        paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
        return f"<c:title><c:tx><c:rich>{paragraphs}</c:rich></c:tx></c:title>" if text else ""

    def points(names: Sequence[str]) -> str:
        inside = "".join(f'<c:pt idx="{n}"><c:v>{name}</c:v></c:pt>' for n, name in enumerate(names))
        return f"<c:strRef><c:f>S!$A$1</c:f><c:strCache>{inside}</c:strCache></c:strRef>"

    drawn = "".join(
        f"<c:ser><c:tx>{points([name])}</c:tx><c:dLbls><c:tx><c:rich><a:p><a:r><a:t>label</a:t></a:r></a:p></c:rich>"
        f"</c:tx></c:dLbls><c:cat>{points(names)}</c:cat><c:val><c:numRef><c:numCache><c:pt><c:v>4711</c:v></c:pt>"
        "</c:numCache></c:numRef></c:val></c:ser>"
        for name, names in (series or {}).items()
    )
    scales = "".join(f"<c:valAx>{titled(text)}</c:valAx>" for text in axes)
    return (
        f"<c:chartSpace {_NAMESPACES}><c:chart>{titled(title)}<c:plotArea><c:barChart>{drawn}</c:barChart>{scales}"
        "</c:plotArea></c:chart></c:chartSpace>"
    )


def field(code: str, result: str) -> str:
    """Return the runs of a field."""
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    return f"{mark('begin')}<w:r><w:instrText>{code}</w:instrText></w:r>{mark('separate')}{result}{mark('end')}"


def relation(relation_id: str, kind: str, target: str) -> str:
    """Return a relationship."""
    return f'<Relationship Id="{relation_id}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'


def relations(each: list[str]) -> str:
    """Return a part of relationships."""
    address = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{address}">{"".join(each)}</Relationships>'


SAMPLE: Final = docx(
    p("泵站手册", style="Title")
    + p("安装", style="1")
    + p("先断电，再拆盖板。", runs='<w:r><w:footnoteReference w:id="2"/></w:r>')
    + item("关阀")
    + item("泄压")
    + table(("名称", "数量"), ("垫片", "3"))
    + p()
    + p("The end — “fin”."),
    parts={
        "styles": style("Title", "Title") + style("1", "heading 1"),
        "numbering": numbering(level(0, "decimal", "%1.")),
        "footnotes": f'<w:footnote w:id="2">{p("见附录。")}</w:footnote>',
    },
)
"""A document with something of most kinds."""
