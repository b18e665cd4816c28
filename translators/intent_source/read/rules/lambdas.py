"""Pure helpers inside structured operations: tracing them over block parameters and checking their schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Function, IntrinsicName, Operand, Product
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe, describe_value
from translators.intent_source.read.rules.literals import as_value
from translators.intent_source.read.rules.products import flatten, rebuild, same_nesting, show_schema
from translators.logical.program import Block, BlockParameter, Lambda, Value
from translators.logical.types import Type


def helper(builder: Builder, operand: Operand, what: str) -> Function | IntrinsicName:
    if not isinstance(operand, Function | IntrinsicName):
        message = f"{what} is an @intent.fn helper, and this is {describe(builder, operand)}"
        builder.reject(codes.HELPER_EXPECTED, message, "name the helper, or an operation such as I.add, without a call")
    return operand


def parameters_like(builder: Builder, template: Operand, types: Sequence[Type]) -> tuple[tuple[Value, ...], Operand]:
    """Block parameters of the given types, and the operand they make in the nesting of `template`."""
    values = tuple(builder.value(BlockParameter(), type) for type in types)
    return values, rebuild(template, values)


def captured(builder: Builder, operands: Operand) -> tuple[tuple[Value, ...], tuple[Value, ...], tuple[Operand, ...]]:
    """(runtime operands, their parameters, arguments): what is known while reading is passed through as it is."""
    items = operands.items if isinstance(operands, Product) and operands.names is None else (operands,)
    values: list[Value] = []
    parameters: list[Value] = []
    arguments: list[Operand] = []
    for item in items:
        leaves: list[Operand] = []
        for leaf in flatten(item):
            if isinstance(leaf, Value):
                values.append(leaf)
                parameters.append(builder.value(BlockParameter(), leaf.type))
                leaves.append(parameters[-1])
            else:
                leaves.append(leaf)
        arguments.append(rebuild(item, leaves))
    return tuple(values), tuple(parameters), tuple(arguments)


def combine_lambda(
    builder: Builder, template: Operand, types: Sequence[Type], combine: Operand, operands: Operand, what: str
) -> tuple[Lambda, tuple[Value, ...]]:
    """`combine(accumulator, element, *operands)`, which gives the schema it takes."""
    left, first = parameters_like(builder, template, types)
    right, second = parameters_like(builder, template, types)
    captures, parameters, arguments = captured(builder, operands)
    function = helper(builder, combine, what)
    block, result = builder.trace(function, (first, second, *arguments), what)
    block, results = with_results(builder, block, lambda: schema(builder, result, template, types, what, codes.COMBINE))
    return Lambda((*left, *right, *parameters), block, results), captures


def with_results(
    builder: Builder, block: Block, make: Callable[[], tuple[Value, ...]]
) -> tuple[Block, tuple[Value, ...]]:
    """The results of a traced block, with the constants that literal results become inside it."""
    with builder.block() as added:
        results = make()
    return Block((*block.statements, *added)), results


def schema(
    builder: Builder, result: Operand, template: Operand, types: Sequence[Type], what: str, code: str
) -> tuple[Value, ...]:
    """The components of a helper's result, which has the given nesting and types."""
    if not same_nesting(result, template):
        message = f"{what} takes {show_schema(builder, template)} and gives {show_schema(builder, result)}"
        builder.reject(code, message, "it returns what it takes: the same tuple or record")
    pairs = zip(flatten(result), types, strict=True)
    return tuple(_typed(builder, leaf, type, what, code) for leaf, type in pairs)


def _typed(builder: Builder, leaf: Operand, type: Type, what: str, code: str) -> Value:
    value = as_value(builder, leaf, None if isinstance(leaf, Value) else type.dtype)
    if value.type != type:
        given = describe_value(builder, value)
        wanted = describe_value(builder, builder.value(BlockParameter(), type))
        builder.reject(code, f"{what} gives {given} where {wanted} is expected")
    return value
