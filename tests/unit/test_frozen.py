"""Frozen values are what `dataclass(frozen=True, kw_only=True)` makes, for all that is done with them here."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property

import pytest

from zhiku.frozen import frozen


@frozen
class Point:
    """A point."""

    x: int
    y: int = 0
    names: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False)

    @cached_property
    def length(self) -> int:
        return abs(self.x) + abs(self.y)


@dataclass(frozen=True, kw_only=True)
class Twin:
    """The same, by the standard library."""

    x: int
    y: int = 0
    names: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False)


def test_it_has_its_values_and_defaults() -> None:
    point = Point(x=1, secret="s")
    assert (point.x, point.y, point.names, point.secret) == (1, 0, [], "s")
    assert Point(x=1).names is not Point(x=1).names


def test_the_functions_for_dataclasses_know_it() -> None:
    point, twin = Point(x=1, names=["a"]), Twin(x=1, names=["a"])
    assert is_dataclass(point)
    assert [(item.name, item.default, item.repr) for item in fields(Point)] == [
        (item.name, item.default, item.repr) for item in fields(Twin)
    ]
    assert asdict(point) == asdict(twin)
    assert replace(point, y=2) == Point(x=1, y=2, names=["a"])
    assert repr(point) == repr(twin).replace("Twin", "Point")


def test_equal_values_are_equal_whatever_was_worked_out_of_them() -> None:
    one, other = Point(x=1, names=[]), Point(x=1, names=[])
    assert one.length == 1
    assert one == other
    assert one != Point(x=2)
    assert one != Twin(x=1)

    @frozen
    class Key:
        text: str

    assert {Key(text="a"), Key(text="a")} == {Key(text="a")}
    with pytest.raises(TypeError):
        hash(one)


def test_it_cannot_be_changed() -> None:
    point = Point(x=1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x


@pytest.mark.parametrize("given", [{}, {"y": 1}, {"x": 1, "z": 2}])
def test_a_value_that_is_missing_or_unknown_is_an_error(given: dict[str, int]) -> None:
    with pytest.raises(TypeError, match=r"Point\(\) lacks, or does not know: [xz]"):
        Point(**given)
    with pytest.raises(TypeError):
        Point(1)  # type: ignore[misc]


def test_it_can_be_copied_and_sent_to_another_process() -> None:
    point = Point(x=1, names=["a"])
    assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == point
