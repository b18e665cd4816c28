"""Atomic functions: updates of memory; what they return is not read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from translators.triton_source.read.execution import Execution
from translators.triton_source.read.values import NotLifted, Pointer, Value

Arguments = Mapping[str, Value]
Handler = Callable[[Execution, Arguments], Value]


def updating(combine: str) -> Handler:
    def handler(execution: Execution, given: Arguments) -> Value:
        pointer = given["pointer"]
        if not isinstance(pointer, Pointer):
            raise NotLifted("an atomic through something that is no pointer to a parameter's elements")
        execution.store(pointer, given["val"], given.get("mask"), combine)
        return None

    return handler
