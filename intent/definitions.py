"""The decorators `intent.kernel` and `intent.fn`: they mark a function for the compiler and never run its body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NoReturn

Role = Literal["kernel", "fn"]


class Definition:
    """A decorated function: its name, documentation and place in a source file."""

    def __init__(self, function: Callable[..., object], role: Role) -> None:
        self.role = role
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__

    @property
    def path(self) -> str:
        """The file that holds the definition, as Python recorded it."""
        return self.__wrapped__.__code__.co_filename

    @property
    def line(self) -> int:
        """The definition's first line, decorator included."""
        return self.__wrapped__.__code__.co_firstlineno

    def __call__(self, *_: object, **__: object) -> NoReturn:
        if self.role == "kernel":
            raise RuntimeError(
                f"kernel '{self.__name__}' cannot be called directly: compile it first, "
                f"artifact = intent.compile({self.__name__}), and call the artifact"
            )
        raise RuntimeError(f"'{self.__name__}' is an @intent.fn: only kernels and other @intent.fn functions call it")

    def __repr__(self) -> str:
        return f"<intent.{self.role} {self.__name__} at {self.path}:{self.line}>"


def kernel(function: Callable[..., object]) -> Definition:
    """Mark a function as one logical kernel: one launch, no value returned to the host."""
    return _define(function, "kernel")


def fn(function: Callable[..., object]) -> Definition:
    """Mark a function as a typed helper of kernels."""
    return _define(function, "fn")


def _define(function: Callable[..., object], role: Role) -> Definition:
    if isinstance(function, Definition):
        raise TypeError(f"'{function.__name__}' is decorated twice: a function is a kernel or an fn, once")
    if not hasattr(function, "__code__"):
        raise TypeError(f"@intent.{role} decorates a function, not {function!r}")
    return Definition(function, role)
