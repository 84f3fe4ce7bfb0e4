"""What tree-sitter is asked for in each language: definitions with their names, and what belongs before them.

A `@class` may hold further definitions, a `@function` does not as a rule; `@name` is what it is called, `@owner` the
type that a method names outside of it, `@declarator` a name in C's manner. A `@lead` is a comment or an annotation.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Grammar(NamedTuple):
    """The function of a package that gives a language, and the query for its definitions."""

    function: str
    query: str


_PYTHON: Final = """
(class_definition name: (_) @name) @class
(function_definition name: (_) @name) @function
[(comment) (decorator)] @lead
"""
_JAVASCRIPT: Final = """
(class_declaration name: (_) @name) @class
(class name: (_) @name) @class
(variable_declarator name: (identifier) @name value: (class)) @class
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(method_definition name: (_) @name) @function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @function
(assignment_expression left: (member_expression property: (_) @name)
  right: [(arrow_function) (function_expression)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function
[(comment) (decorator)] @lead
"""
_FIELD: Final = "({} {}: (_) @name value: [(arrow_function) (function_expression)]) @function"
_TYPESCRIPT: Final = f"""
{_JAVASCRIPT}
{_FIELD.format("public_field_definition", "name")}
[(abstract_class_declaration name: (_) @name) (interface_declaration name: (_) @name)] @class
[(enum_declaration name: (_) @name) (type_alias_declaration name: (_) @name)] @class
"""
_GO: Final = """
(type_spec name: (_) @name) @class
(function_declaration name: (_) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name) @function
(comment) @lead
"""
_RUST: Final = """
(impl_item type: (_) @owner) @class
[(struct_item name: (_) @name) (enum_item name: (_) @name) (union_item name: (_) @name)] @class
(trait_item name: (_) @name) @class
[(function_item name: (_) @name) (macro_definition name: (_) @name)] @function
[(line_comment) (block_comment) (attribute_item)] @lead
"""
_JAVA: Final = """
[(class_declaration name: (_) @name) (interface_declaration name: (_) @name)] @class
[(enum_declaration name: (_) @name) (record_declaration name: (_) @name)] @class
(annotation_type_declaration name: (_) @name) @class
[(method_declaration name: (_) @name) (constructor_declaration name: (_) @name)] @function
(compact_constructor_declaration name: (_) @name) @function
[(line_comment) (block_comment)] @lead
"""
_C: Final = """
[(struct_specifier name: (_) @name body: (_)) (union_specifier name: (_) @name body: (_))] @class
(enum_specifier name: (_) @name body: (_)) @class
(type_definition type: (_ body: (_)) declarator: (type_identifier) @name) @class
(function_definition declarator: (_) @declarator) @function
(preproc_function_def name: (_) @name) @function
(comment) @lead
"""
_CPP: Final = f"""
{_C}
(class_specifier name: (_) @owner body: (_)) @class
(template_declaration "template" @lead)
"""
_C_SHARP: Final = """
[(class_declaration name: (_) @name) (struct_declaration name: (_) @name)] @class
[(interface_declaration name: (_) @name) (record_declaration name: (_) @name)] @class
(enum_declaration name: (_) @name) @class
[(method_declaration name: (_) @name) (constructor_declaration name: (_) @name)] @function
[(property_declaration name: (_) @name) (local_function_statement name: (_) @name)] @function
(comment) @lead
"""
_BASH: Final = """
(function_definition name: (_) @name) @function
(comment) @lead
"""

GRAMMARS: Final = {
    "tree_sitter_bash": Grammar("language", _BASH),
    "tree_sitter_c": Grammar("language", _C),
    "tree_sitter_c_sharp": Grammar("language", _C_SHARP),
    "tree_sitter_cpp": Grammar("language", _CPP),
    "tree_sitter_go": Grammar("language", _GO),
    "tree_sitter_java": Grammar("language", _JAVA),
    "tree_sitter_javascript": Grammar("language", _JAVASCRIPT + _FIELD.format("field_definition", "property")),
    "tree_sitter_python": Grammar("language", _PYTHON),
    "tree_sitter_rust": Grammar("language", _RUST),
    "tree_sitter_typescript": Grammar("language_typescript", _TYPESCRIPT),
}
"""By the package that has the grammar."""

TSX: Final = Grammar("language_tsx", _TYPESCRIPT)
"""TypeScript with elements of markup, whose grammar is another one."""
