"""Which class and function the lines of source code belong to. (The languages one by one: tests/golden/code.)"""

from __future__ import annotations

import time
from textwrap import dedent

import pytest

from samples import parse
from zhiku.chunkers.structure import StructureChunker
from zhiku.parsers.code import MAX_BYTES, MAX_CHARS_A_LINE
from zhiku.parsers.code_outline import LONG_FUNCTION_LINES, MAX_NAMES


def cut(text: str, path: str = "a.py") -> list[tuple[tuple[str, ...], int, int]]:
    """Return the chain and the lines of each chunk."""
    chunks = StructureChunker().chunk(parse(path, dedent(text).lstrip("\n").encode()))
    return [(chunk.section, chunk.line_start, chunk.line_end) for chunk in chunks]


def test_a_method_has_its_class_and_its_name() -> None:
    text = """
    import os

    class Pump:
        '''Doc.'''

        def stop(self):
            return 0
    """
    assert cut(text) == [((), 1, 1), (("Pump",), 3, 4), (("Pump", "stop"), 6, 7)]


def test_text_and_lines_are_those_of_the_file() -> None:
    data = "class 泵:\r\n\tdef 停(self):\r\n\t\tpass\r\n".encode("gb18030")
    document = parse("a.py", data)
    assert (document.text, document.line_numbers) == ("class 泵:\n\tdef 停(self):\n\t\tpass\n", ())
    assert [block.section for block in document.blocks] == [("泵", "停")]


def test_what_follows_a_function_is_not_its_own() -> None:
    assert cut("def f():\n    pass\n\nf()\n") == [(("f",), 1, 2), ((), 4, 4)]


def test_comments_and_decorators_right_above_belong_to_what_they_are_about() -> None:
    text = """
    # of the file

    # of f
    # on two lines
    @cached
    def f():
        x = 1  # not of g
    # of g
    def g():
        pass
    """
    assert cut(text) == [((), 1, 1), (("f",), 3, 7), (("g",), 8, 10)]


def test_a_line_of_brackets_goes_with_what_stands_above_it() -> None:
    text = """
    class A {
      f() {
        return [
          1,
        ];
      }
    }
    """
    assert cut(text, "a.js") == [(("A", "f"), 1, 7)]


def test_a_function_on_one_line_is_part_of_what_is_around_it() -> None:
    assert cut("class A:\n    x = 1\n    def f(self): return 1\n    y = 2\n") == [(("A",), 1, 4)]


def test_functions_in_a_function_are_a_part_of_it_unless_it_is_long() -> None:
    inner = "    def inner():\n        pass\n"
    assert cut(f"def outer():\n{inner}") == [(("outer",), 1, 3)]
    filler = "    x = 1\n" * LONG_FUNCTION_LINES
    assert [chain for chain, _, _ in cut(f"def outer():\n{filler}{inner}")][-1] == ("outer", "inner")


def test_a_chain_has_an_end() -> None:
    text = "".join("  " * depth + f"class C{depth}:\n" + "  " * (depth + 1) + "x = 1\n" for depth in range(20))
    chains = [chain for chain, _, _ in cut(text)]
    assert max(map(len, chains)) == MAX_NAMES


@pytest.mark.parametrize(
    ("path", "text", "chain"),
    [
        ("a.go", "package a\n\nfunc (s *Server[T]) Serve() {\n\treturn\n}\n", ("Server", "Serve")),
        ("a.cpp", "std::string ns::Pump<int>::name(int x) const {\n  return x;\n}\n", ("Pump", "name")),
        ("a.cpp", "struct A {\n  int operator()(int x) {\n    return x;\n  }\n};\n", ("A", "operator()")),
        ("a.h", "class Pump {\n  void stop() {\n    off();\n  }\n};\n", ("Pump", "stop")),
        ("a.rs", "impl<T> Show for Pump<T> {\n    fn show(&self) {\n    }\n}\n", ("Pump", "show")),
        ("a.ts", "export default class A {\n  get x(): number {\n    return 1;\n  }\n}\n", ("A", "x")),
        ("a.jsx", "export const App = () => {\n  return <p>水</p>;\n};\n", ("App",)),
        ("a.cs", "class A {\n  ~A() {\n  }\n  public int X {\n    get;\n  }\n}\n", ("A", "X")),
    ],
)
def test_names_are_found_where_each_language_has_them(path: str, text: str, chain: tuple[str, ...]) -> None:
    assert chain in [found for found, _, _ in cut(text, path)]


def test_code_that_is_broken_keeps_the_names_that_can_be_told() -> None:
    text = "def f():\n    return 1\n\ndef g(:\n    oops\n\n<<<<<<< HEAD\nclass A:\n    def h(self):\n        pass\n"
    chains = [chain for chain, _, _ in cut(text)]
    assert ("f",) in chains
    assert ("A", "h") in chains


def test_a_file_of_a_program_is_read_by_lines_and_at_once() -> None:
    line = "function f(a){return a+1};"
    began = time.process_time()
    for text in (line * (5_000_000 // len(line)), f"{line}\n" * (MAX_BYTES // len(line) + 1), line * 9):
        document = parse("a.js", text.encode())
        assert {block.section for block in document.blocks} == {()}
        assert document.text == text
    assert time.process_time() - began < 30
    assert len(line) * 9 > MAX_CHARS_A_LINE


@pytest.mark.parametrize("text", ["(\n" * 20_000, "{\n" * 20_000, "class A {\n" * 9_000, "a?b:\n" * 9_000])
@pytest.mark.parametrize("path", ["a.py", "a.js", "a.cpp"])
def test_what_is_nested_without_end_takes_a_time_that_ends(path: str, text: str) -> None:
    """(What does not: test_pool.)"""
    began = time.process_time()
    assert parse(path, text.encode()).text == text
    assert time.process_time() - began < 10
