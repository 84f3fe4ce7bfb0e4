"""Frozen values that cost little to import.

`dataclass` writes and compiles six functions for each class, which takes 0.4 ms; a search by words meets some fifty
classes and takes 140 ms of a processor in all (2026-11-30). Here all classes share the same functions.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[T]) -> type[T]:
    """Make of a class what `dataclass(frozen=True, kw_only=True)` makes; `fields`, `replace` and `asdict` know it."""
    made: Any = dataclass(init=False, repr=False, eq=False, kw_only=True)(kind)
    known = fields(made)
    made._names = tuple(item.name for item in known)
    made._known = frozenset(made._names)
    made._defaults = {item.name: item.default for item in known if item.default is not MISSING}
    made._factories = tuple((item.name, item.default_factory) for item in known if item.default_factory is not MISSING)
    for name, method in _METHODS.items():
        setattr(made, name, method)
    return kind


def _init(self: Any, /, **values: Any) -> None:
    kind = type(self)
    given = kind._defaults | values
    for name, make in kind._factories:
        if name not in given:
            given[name] = make()
    if given.keys() != kind._known:
        unknown = ", ".join(sorted(given.keys() ^ kind._known))
        raise TypeError(f"{kind.__name__}() lacks, or does not know: {unknown}")
    self.__dict__.update(given)


def _key(self: Any) -> tuple[Any, ...]:
    values = self.__dict__
    return tuple([values[name] for name in self._names])


def _repr(self: Any) -> str:
    shown = ", ".join(f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if item.repr)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: object) -> bool:
    return _key(self) == _key(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_key(self))


def _refuse(self: Any, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")


_METHODS = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
}
