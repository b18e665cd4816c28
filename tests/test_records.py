"""Record classes do what the standard library's dataclasses do: each case runs with both."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Iterator
from types import ModuleType
from typing import ClassVar

import pytest

from intent import records

BOTH = pytest.mark.parametrize("library", [dataclasses, records], ids=lambda library: library.__name__)


@records.dataclass(frozen=True, slots=True)
class Point:
    """At module level, so that it can be pickled."""

    x: int
    y: list[int] = records.field(default_factory=list)


@BOTH
def test_positions_names_and_defaults(library: ModuleType) -> None:
    @library.dataclass(slots=True)
    class Box:
        kind: ClassVar[str] = "box"
        width: int
        height: int = 3
        parts: list[int] = library.field(default_factory=list)
        area: int = library.field(init=False)

        def __post_init__(self) -> None:
            self.area = self.width * self.height

    first, second = Box(2), Box(height=5, width=2, parts=[1])
    assert (first.height, first.parts, first.area, second.area, second.parts) == (3, [], 6, 10, [1])
    assert first.parts is not Box(2).parts
    assert Box.__match_args__ == ("width", "height", "parts")
    assert repr(second).endswith("Box(width=2, height=5, parts=[1], area=10)")
    assert not hasattr(first, "__dict__")
    with pytest.raises(TypeError):
        Box()
    with pytest.raises(TypeError):
        Box(1, 2, [], 4)
    with pytest.raises(TypeError):
        hash(first)
    with pytest.raises(AttributeError):
        first.depth = 1


@BOTH
def test_a_frozen_record_cannot_change(library: ModuleType) -> None:
    @library.dataclass(frozen=True, slots=True)
    class Name:
        text: str

    name = Name("a")
    with pytest.raises(AttributeError):
        name.text = "b"
    with pytest.raises(AttributeError):
        del name.text
    assert library.replace(name, text="b") == Name("b")
    assert name == Name("a") != Name("b")
    assert len({name, Name("a"), Name("b")}) == 2


@BOTH
def test_classes_that_differ_are_never_equal(library: ModuleType) -> None:
    @library.dataclass(frozen=True, slots=True)
    class Base:
        x: int

    @library.dataclass(frozen=True, slots=True)
    class Derived(Base):
        y: int = 2

    assert Base(1) != Derived(1)
    assert Derived(1) == Derived(1, 2)
    assert [each.name for each in library.fields(Derived)] == ["x", "y"]
    match Derived(4, 5):
        case Base(x) if x == 4:
            pass
        case _:
            pytest.fail("a subclass matches by position")


@BOTH
def test_identity_and_own_methods(library: ModuleType) -> None:
    @library.dataclass(frozen=True, slots=True, eq=False)
    class Token:
        serial: int

    @library.dataclass(frozen=True, slots=True)
    class Cached:
        parts: tuple[int, ...]
        key: int = library.field(default=0, compare=False, repr=False)

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "cached"

    assert Token(1) != Token(1)
    assert len({Token(1), Token(1)}) == 2
    assert (hash(Cached((1,))), repr(Cached((1,)))) == (7, "cached")
    assert Cached((1,), 3) == Cached((1,), 4)


@BOTH
def test_as_dictionaries(library: ModuleType) -> None:
    @library.dataclass(frozen=True)
    class Leaf:
        value: int

    @library.dataclass(frozen=True, slots=True)
    class Tree:
        leaves: tuple[Leaf, ...]
        named: dict[str, Leaf]

    assert library.is_dataclass(Tree) and library.is_dataclass(Leaf(1)) and not library.is_dataclass(1)
    assert library.asdict(Tree((Leaf(1),), {"a": Leaf(2)})) == {"leaves": ({"value": 1},), "named": {"a": {"value": 2}}}


def _copies(point: Point) -> Iterator[Point]:
    yield copy.copy(point)
    yield copy.deepcopy(point)
    yield pickle.loads(pickle.dumps(point))


def test_copies() -> None:
    point = Point(1, [2])
    for each in _copies(point):
        assert each == point and each is not point
