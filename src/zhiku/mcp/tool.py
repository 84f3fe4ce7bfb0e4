"""What a tool is: a function over what may be seen, whose arguments and results are told in JSON schemas."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema


class BadCall(Exception):
    """What keeps a tool from being called as it was, in words for the model that did."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a tool answers, twice: clients give a model one of the two, so that each must do without the other."""

    text: str
    """Empty where the JSON says it as briefly, or is what agents look for in the text."""
    data: object
    """A dataclass, whose fields are left out of the JSON where they have their default."""
    task: str = ""
    """Work that goes on; a client that asks for progress is told of it until its end."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool. `run` takes a `Sight`, and by keyword what clients are told: arguments with types and defaults."""

    run: Callable[..., Reply]
    title: str
    description: str
    result: type[Any]
    """The class of a reply's data."""
    needs_base: bool = True
    """Whether there is nothing to be done with it as long as there is no base."""
    read_only: bool = True
    needs_write: bool = False
    """Whether it is offered only where agents may write."""
    followed_by: str = ""
    """The tool that tells, by its `job_id`, of work that this one began."""

    @property
    def name(self) -> str:
        """Return the name that clients call it by."""
        return self.run.__name__

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of its arguments."""
        return _without_titles(self._arguments.model_json_schema(schema_generator=_Schemas))

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """Return the JSON schema of its reply's data."""
        return _without_titles(self._data.json_schema(schema_generator=_Schemas))

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments for `run`; null stands for one that is left out. Raises `BadCall`."""
        told = {name: value for name, value in given.items() if value is not None}
        try:
            checked = self._arguments.model_validate(told)
        except ValidationError as error:
            problems = "; ".join(map(_problem, error.errors(include_url=False)))
            known = ", ".join(self._arguments.model_fields)
            raise BadCall(f"{self.name} cannot be called so: {problems}. Its arguments are {known}.") from error
        return {name: getattr(checked, name) for name in checked.model_fields_set}

    def json_of(self, data: object) -> dict[str, Any]:
        """Return a reply's data as JSON values."""
        values: dict[str, Any] = self._data.dump_python(data, mode="json", exclude_defaults=True)
        return values

    @cached_property
    def _arguments(self) -> type[BaseModel]:
        hints = get_type_hints(self.run, include_extras=True)
        parameters = [p for p in inspect.signature(self.run).parameters.values() if p.kind is p.KEYWORD_ONLY]
        fields: dict[str, Any] = {
            p.name: (hints[p.name], ... if p.default is p.empty else p.default) for p in parameters
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    @cached_property
    def _data(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.result)


class _Schemas(GenerateJsonSchema):
    """Makes schemas that say no more than they must: a model reads every word of them in each conversation."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema of the value itself: what may be null may be left out, which every client can do."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default") in (None, "", ()):
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without the titles that pydantic makes of names."""
    return {
        key: {name: _without_titles(item) for name, item in value.items()}
        if key in ("properties", "$defs")
        else _without_titles(value)
        if isinstance(value, dict)
        else value
        for key, value in schema.items()
        if key != "title"
    }


def _problem(error: Any) -> str:
    place = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"it has no argument {place}"
    if error["type"] == "missing":
        return f"{place} is missing"
    return f"{place}: {error['msg'][0].lower()}{error['msg'][1:]}"
