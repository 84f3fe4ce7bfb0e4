"""Small presentations, made part by part for the tests that need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from docx_files import packed_as_zip, relation, relations

_TRANSITIONAL: Final = "http://schemas.openxmlformats.org/presentationml/2006/main"
STRICT: Final = "http://purl.oclc.org/ooxml/presentationml/main"
_NAMESPACES: Final = (
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    ' xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)


def pptx(
    *slides: str,
    notes: Mapping[int, str] | None = None,
    diagrams: Mapping[int, str] | None = None,
    charts: Mapping[int, str] | None = None,
    comments: Mapping[int, str] | None = None,
    authors: str = "",
    core: str = "",
    namespace: str = _TRANSITIONAL,
    order: Sequence[int] = (),
) -> bytes:
    """Return a presentation of the insides of its slides; `notes`, `diagrams`, `charts` and `comments` are by slide,
    from 1, the last two as whole parts; `authors` is the part that names those of comments.

    `order` are the slides as they are shown, which is not that of their names.
    """
    notes, diagrams, charts, comments = notes or {}, diagrams or {}, charts or {}, comments or {}
    numbers = range(1, len(slides) + 1)
    shown = "".join(f'<p:sldId id="{255 + n}" r:id="s{n}"/>' for n in order or numbers)
    files = {
        "_rels/.rels": relations(
            [relation("r1", "officeDocument", "ppt/presentation.xml"), relation("r2", "core-properties", "core.xml")]
        ),
        "ppt/presentation.xml": _root("presentation", f"<p:sldIdLst>{shown}</p:sldIdLst>", namespace),
        "ppt/_rels/presentation.xml.rels": relations(
            [relation(f"s{n}", "slide", f"slides/slide{n}.xml") for n in numbers]
            + [relation("a", "commentAuthors", "authors.xml")] * bool(authors)
        ),
        "ppt/authors.xml": authors,
        "core.xml": (
            '<p:coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/"'
            f' xmlns:p="http://schemas.openxmlformats.org/package/2006/metadata/core-properties">{core}'
            "</p:coreProperties>"
        ),
    }
    for n, inside in enumerate(slides, 1):
        files[f"ppt/slides/slide{n}.xml"] = _root("sld", _tree(inside), namespace)
        files[f"ppt/slides/_rels/slide{n}.xml.rels"] = relations(
            [relation("n", "notesSlide", f"../notesSlides/notesSlide{n}.xml")] * (n in notes)
            + [relation("d", "diagramData", f"../diagrams/data{n}.xml")] * (n in diagrams)
            + [relation("c", "chart", f"../charts/chart{n}.xml")] * (n in charts)
            + [relation("k", "comments", f"../comments/comment{n}.xml")] * (n in comments)
        )
    for n, inside in notes.items():
        files[f"ppt/notesSlides/notesSlide{n}.xml"] = _root("notes", _tree(inside), namespace)
    for n, inside in diagrams.items():
        files[f"ppt/diagrams/data{n}.xml"] = f"<dgm:dataModel {_NAMESPACES}>{inside}</dgm:dataModel>"
    files |= {f"ppt/charts/chart{n}.xml": part for n, part in charts.items()}
    files |= {f"ppt/comments/comment{n}.xml": part for n, part in comments.items()}
    return packed_as_zip({name: text.encode() for name, text in files.items()})


def _root(name: str, inside: str, namespace: str) -> str:
    return f'<p:{name} xmlns:p="{namespace}" {_NAMESPACES}>{inside}</p:{name}>'


def _tree(inside: str) -> str:
    return f"<p:cSld><p:spTree>{inside}</p:spTree></p:cSld>"


def shape(*paragraphs: str, placeholder: str | None = None) -> str:
    """Return a shape; a paragraph that is no markup yet is one of that text."""
    named = "" if placeholder is None else f'<p:ph type="{placeholder}"/>'
    return (
        f"<p:sp><p:nvSpPr><p:nvPr>{named}</p:nvPr></p:nvSpPr><p:txBody>"
        + "".join(each if each.startswith("<") else p(each) for each in paragraphs)
        + "</p:txBody></p:sp>"
    )


def title(text: str) -> str:
    """Return the title of a slide."""
    return shape(text, placeholder="title")


def p(text: str, level: int = 0) -> str:
    """Return a paragraph."""
    return f'<a:p><a:pPr lvl="{level}"/><a:r><a:rPr/><a:t>{text}</a:t></a:r></a:p>'


def table(*rows: tuple[str, ...]) -> str:
    """Return a table; a cell that is no markup yet is one paragraph."""
    cells = [
        "".join(each if each.startswith("<") else f"<a:tc><a:txBody>{p(each)}</a:txBody></a:tc>" for each in row)
        for row in rows
    ]
    inside = "".join(f"<a:tr>{row}</a:tr>" for row in cells)
    return f"<p:graphicFrame><a:graphic><a:tbl><a:tblPr/>{inside}</a:tbl></a:graphic></p:graphicFrame>"


def authors(**names: str) -> str:
    """Return the part that names who commented, by id."""
    each = "".join(f'<p:cmAuthor id="{author_id}" name="{name}"/>' for author_id, name in names.items())
    return _root("cmAuthorLst", each, _TRANSITIONAL)


def comments(*texts: tuple[str, str]) -> str:
    """Return a part of comments, (author's id, text), in the form of 2007."""
    each = "".join(
        f'<p:cm authorId="{author}"><p:pos x="1" y="1"/><p:text>{text}</p:text></p:cm>' for author, text in texts
    )
    return _root("cmLst", each, _TRANSITIONAL)


def threaded_comment(author: str, text: str, *replies: tuple[str, str]) -> str:
    """Return a part of one comment, and the replies to it, in the form of today."""
    space = 'xmlns:p188="http://schemas.microsoft.com/office/powerpoint/2018/8/main"'

    def body(said: str) -> str:
        return f"<p188:txBody><a:bodyPr/>{p(said)}</p188:txBody>"

    answers = "".join(f'<p188:reply authorId="{who}">{body(said)}</p188:reply>' for who, said in replies)
    return (
        f'<p188:cmLst {space} {_NAMESPACES}><p188:cm authorId="{author}"><p188:replyLst>{answers}</p188:replyLst>'
        f"{body(text)}</p188:cm></p188:cmLst>"
    )


def chart_frame() -> str:
    """Return the frame of a slide's chart."""
    return '<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/></a:graphicData></a:graphic></p:graphicFrame>'


SAMPLE: Final = pptx(
    shape("泵站手册", placeholder="ctrTitle") + shape("二〇三一年", placeholder="subTitle"),
    title("安装") + shape("先断电", p("戴手套", 1), "再拆盖板", placeholder="body") + shape("2", placeholder="sldNum"),
    shape("The end — “fin”.") + table(("名称", "数量"), ("垫片", "3")),
    "",
    notes={2: shape("别忘了泄压。", placeholder="body") + shape("2", placeholder="sldNum")},
)
"""A presentation with something of most kinds."""
