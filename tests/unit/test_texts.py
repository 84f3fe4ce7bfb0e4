import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import zhiku
import zhiku.errors
from zhiku.cli.bases import BASE_COLUMNS, DOCUMENT_COLUMNS, OUTCOMES
from zhiku.cli.costs import USAGE_COLUMNS
from zhiku.cli.figures import MODES
from zhiku.cli.health import LABELS
from zhiku.cli.hits import WHY
from zhiku.cli.ledger import STATES as READINGS
from zhiku.cli.main import COMMANDS
from zhiku.cli.personas import PERSONA_COLUMNS
from zhiku.cli.places import STATES
from zhiku.cli.reasons import RULES
from zhiku.cli.sync import COUNTS
from zhiku.cli.terms import FINDINGS
from zhiku.errors import ZhikuError
from zhiku.texts_zh import TEXTS

PACKAGE = Path(zhiku.__file__).parent
ERRORS = {
    name for name, value in vars(zhiku.errors).items() if isinstance(value, type) and issubclass(value, ZhikuError)
}
SYSTEM = {
    "Permission denied",
    "Operation not permitted",
    "No such file or directory",
    "Input/output error",
    "Is a directory",
    "Not a regular file",
    "Too many levels of symbolic links",
    "Too many open files",
    "Stale file handle",
}
"""What systems say of a file that they do not let be read, and what stands for it in the ledger."""
TRANSLATING = {"tr", "_tr", "translate", "unknown"}


class Module:
    """The templates that a module passes to errors, to the translator, and to the help of commands."""

    def __init__(self, path: Path) -> None:
        self.name = str(path.relative_to(PACKAGE))
        self._tree = ast.parse(path.read_text("utf-8"))
        self._assigned = {
            target.id: node.value
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def templates(self) -> Iterator[tuple[int, str]]:
        for node in ast.walk(self._tree):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            keywords = {k.arg: k.value for k in node.keywords}
            if called in ERRORS:
                yield from self._constants(node.args[0])
                yield from self._constants(keywords.get("hint"))
            elif called in TRANSLATING:
                for arg in node.args:
                    yield from self._constants(arg)
            elif self.name.startswith("cli"):
                yield from self._constants(keywords.get("help"))

    def _constants(self, node: ast.AST | None, *, strict: bool = True) -> Iterator[tuple[int, str]]:
        if node is None:
            return
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node.value:
                yield node.lineno, node.value
        elif isinstance(node, ast.IfExp):
            yield from self._constants(node.body)
            yield from self._constants(node.orelse)
        elif isinstance(node, ast.Name) and isinstance(self._assigned.get(node.id), ast.Constant | ast.IfExp):
            yield from self._constants(self._assigned[node.id])
        elif strict and isinstance(node, ast.JoinedStr):
            pytest.fail(f"{self.name}:{node.lineno}: a template must be constant, not an f-string")


def all_templates() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        module = Module(path)
        for line, template in module.templates():
            yield f"{module.name}:{line}", template
    for table in (
        WHY,
        STATES,
        RULES,
        LABELS,
        OUTCOMES,
        MODES,
        COUNTS,
        READINGS,
        FINDINGS,
        {name: text for name, (_, text) in COMMANDS.items()},
    ):
        yield from ((key, text) for key, text in table.items() if text)
    for columns in (BASE_COLUMNS, DOCUMENT_COLUMNS, USAGE_COLUMNS, PERSONA_COLUMNS):
        yield from (("columns", text) for text in columns)
    yield "click", "Show this message and exit."
    yield from (("legs", leg) for leg in ("lexical", "vector"))


def warnings_of_parsers() -> Iterator[str]:
    """Yield the texts of modules that write warnings; those with values in them, as the templates they would be."""
    for path in [*PACKAGE.glob("text/*.py"), *PACKAGE.glob("parsers/*.py")]:
        yield from texts_in(ast.parse(path.read_text("utf-8")))


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_every_template_has_a_chinese_text() -> None:
    missing = [f"{place}: {text!r}" for place, text in all_templates() if text not in TEXTS]
    assert not missing, "\n".join(missing)


def test_a_chinese_text_has_the_fields_of_its_template() -> None:
    known = set(dict(all_templates()).values())
    differing = [text for text, chinese in TEXTS.items() if fields(text) != fields(chinese)]
    assert known
    assert not differing


def test_a_chinese_text_belongs_to_a_template_that_exists() -> None:
    known = {text for _, text in all_templates()} | set(warnings_of_parsers()) | SYSTEM
    assert not set(TEXTS) - known


def warnings_told() -> Iterator[tuple[str, str]]:
    """Yield the warnings that parsers give with a document: what functions named for them yield or return, what is
    appended to them or passed as them.
    """
    for path in [*PACKAGE.glob("text/*.py"), *PACKAGE.glob("parsers/*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            found: list[ast.AST] = []
            if isinstance(node, ast.FunctionDef) and "warning" in node.name:
                found = [each for each in ast.walk(node) if isinstance(each, ast.Yield | ast.Return)]
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("warnings.append"):
                found = list(node.args)
            elif isinstance(node, ast.keyword) and node.arg == "warnings":
                found = [node.value]
            for text in (text for each in found for text in texts_in(each)):
                yield f"{path.name}:{getattr(node, 'lineno', 0)}", text


def texts_in(node: ast.AST) -> Iterator[str]:
    """Yield the texts in an expression, those with values in them as the templates they would be."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts_in(child)


def test_every_warning_of_a_parser_has_a_chinese_text() -> None:
    told = list(warnings_told())
    assert len(told) > 20
    assert [f"{place}: {text!r}" for place, text in told if " " in text.strip() and text not in TEXTS] == []
