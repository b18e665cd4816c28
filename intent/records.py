"""Dataclasses whose methods are made when they are first used.

`dataclasses.dataclass` compiles half a dozen functions for every class it decorates, about half a millisecond each time
the program starts; the compiler has hundreds of such classes, and one run needs the constructors of some. This module
has the same names with the same meaning, for what the compiler uses of them: constructors are compiled at the first
instance, and comparing, hashing and printing are plain functions over the fields. Type checkers see the standard
library's dataclasses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")
_MISSING: object = object()
_FIELDS = "__record_fields__"


class Field:
    """What a class says of one attribute."""

    __slots__ = ("compare", "default", "default_factory", "init", "name", "repr")

    def __init__(self, default: object, default_factory: object, init: bool, repr: bool, compare: bool) -> None:
        self.name = ""
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare


def _field(
    *,
    default: object = _MISSING,
    default_factory: object = _MISSING,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
) -> Field:
    return Field(default, default_factory, init, repr, compare)


def _dataclass(
    cls: type[T] | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True
) -> type[T] | Callable[[type[T]], type[T]]:
    if cls is None:
        return lambda decorated: _record(decorated, frozen, slots, eq)
    return _record(cls, frozen, slots, eq)


def _fields(record: object) -> tuple[Field, ...]:
    found: Mapping[str, Field] = getattr(record, _FIELDS)
    return tuple(found.values())


def _is_dataclass(record: object) -> bool:
    return hasattr(record if isinstance(record, type) else type(record), _FIELDS)


def _replace(record: T, /, **changes: object) -> T:
    kind: Any = type(record)
    for name in kind.__match_args__:
        if name not in changes:
            changes[name] = getattr(record, name)
    made: T = kind(**changes)
    return made


def _asdict(value: object) -> object:
    """Records inside the record, and inside its lists, tuples and dictionaries, become dictionaries too."""
    if _is_dataclass(value):
        return {each.name: _asdict(getattr(value, each.name)) for each in _fields(value)}
    if isinstance(value, list | tuple):
        return type(value)(_asdict(each) for each in value)
    if isinstance(value, dict):
        return {_asdict(key): _asdict(each) for key, each in value.items()}
    return value


# -------------------------------------------------------------------------------------------------- making a class
def _record(cls: type[T], frozen: bool, slots: bool, eq: bool) -> type[T]:
    own = _own_fields(cls)
    fields: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(base.__dict__.get(_FIELDS, {}))
    inherited = set(fields)
    fields.update(own)
    names = [name for name, each in fields.items() if each.compare]
    members: dict[str, Any] = {
        _FIELDS: fields,
        "__match_args__": tuple(name for name, each in fields.items() if each.init),
        "__repr__": _shown,
        "__getstate__": _state,
        "__setstate__": _restore,
    }
    if eq:
        members["__eq__"], members["__hash__"] = _comparison(names)
    if frozen:
        members["__setattr__"] = members["__delattr__"] = _refuse
    elif eq:
        members["__hash__"] = None
    made = _with_members(cls, members, own, tuple(name for name in own if name not in inherited) if slots else None)
    if "__init__" not in cls.__dict__:
        type.__setattr__(made, "__init__", _constructor_on_demand(made, fields, frozen))
    return made


def _own_fields(cls: type) -> dict[str, Field]:
    """Annotations are text: every module has `from __future__ import annotations`."""
    found: dict[str, Field] = {}
    for name, annotation in cls.__annotations__.items():
        if annotation.startswith("ClassVar"):
            continue
        value = cls.__dict__.get(name, _MISSING)
        each = value if isinstance(value, Field) else Field(value, _MISSING, True, True, True)
        each.name = name
        found[name] = each
    return found


def _with_members(
    cls: type[T], members: Mapping[str, Any], own: Mapping[str, Field], slots: tuple[str, ...] | None
) -> type[T]:
    """What the class defines itself stays. Slots need a new class; the defaults would be in their way."""
    written = cls.__dict__
    added = {name: member for name, member in members.items() if name not in written}
    if "__eq__" in written and "__hash__" in members and written.get("__hash__") is None:
        added["__hash__"] = members["__hash__"]
    if slots is None:
        for name, member in added.items():
            type.__setattr__(cls, name, member)
        for name, each in own.items():
            if isinstance(written.get(name), Field) and each.default is _MISSING:
                type.__delattr__(cls, name)
        return cls
    namespace = {name: member for name, member in written.items() if name not in own}
    namespace.pop("__dict__", None)
    namespace.pop("__weakref__", None)
    namespace |= added
    namespace["__slots__"] = slots
    metaclass: Callable[..., type[T]] = type(cls)
    made = metaclass(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


def _constructor_on_demand(cls: type, fields: Mapping[str, Field], frozen: bool) -> Callable[..., None]:
    def __init__(self: object, *arguments: object, **keywords: object) -> None:
        made = _constructor(cls, fields, frozen)
        type.__setattr__(cls, "__init__", made)
        made(self, *arguments, **keywords)

    return __init__


def _constructor(cls: type, fields: Mapping[str, Field], frozen: bool) -> Callable[..., None]:
    """The source of `__init__`, compiled. Slots of a frozen class are set through their descriptors."""
    known: dict[str, Any] = {"MISSING": _MISSING, "object_setattr": object.__setattr__}
    parameters, body = ["self"], []
    for name, each in fields.items():
        value = name
        if each.default_factory is not _MISSING:
            known[f"factory_{name}"] = each.default_factory
            value = f"factory_{name}() if {name} is MISSING else {name}" if each.init else f"factory_{name}()"
            parameters += [f"{name}=MISSING"] if each.init else []
        elif each.default is not _MISSING:
            known[f"default_{name}"] = each.default
            parameters += [f"{name}=default_{name}"] if each.init else []
            value = name if each.init else f"default_{name}"
        elif not each.init:
            continue
        else:
            parameters.append(name)
        body.append(_assignment(cls, name, value, frozen, known))
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(body or ["pass"]), known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _assignment(cls: type, name: str, value: str, frozen: bool, known: dict[str, Any]) -> str:
    if not frozen:
        return f"self.{name} = {value}"
    setter = getattr(getattr(cls, name, None), "__set__", None)
    if setter is not None:
        known[f"set_{name}"] = setter
        return f"set_{name}(self, {value})"
    return f"object_setattr(self, {name!r}, {value})"


# ------------------------------------------------------------------------------------------------------- its methods
def _comparison(names: list[str]) -> tuple[Callable[..., object], Callable[[object], int]]:
    key: Callable[[Any], object] = attrgetter(*names) if names else lambda record: ()

    def __eq__(self: object, other: object) -> object:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:
        return hash(key(self))

    return __eq__, __hash__


def _shown(self: object) -> str:
    parts = (f"{each.name}={getattr(self, each.name)!r}" for each in _fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _refuse(self: object, name: str, value: object = None) -> None:
    raise AttributeError(f"{type(self).__qualname__} is frozen: {name} cannot change")


def _state(self: object) -> list[object]:
    return [getattr(self, each.name) for each in _fields(self)]


def _restore(self: object, state: list[object]) -> None:
    for each, value in zip(_fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
else:
    asdict, dataclass, field, fields, is_dataclass, replace = (
        _asdict, _dataclass, _field, _fields, _is_dataclass, _replace,
    )  # fmt: skip

__all__ = ["asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]
