"""Contractions with einsum labels: dot, matvec, vecmat, matmul, contract, and outer as a product."""

from __future__ import annotations

from collections.abc import Sequence

from intent.dtypes import DType
from intent.records import dataclass
from translators.algebra.polynomial import Polynomial, number
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Operand, Product
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe, show_axes, show_extent
from translators.intent_source.read.rules.literals import as_value, static_integer
from translators.intent_source.read.rules.pointwise import binary
from translators.intent_source.read.rules.reductions import check_accumulator
from translators.intent_source.read.rules.shapes import ONE, Shape
from translators.logical.program import Contract, Reshape, Value
from translators.logical.types import Tensor

Labels = tuple[int, ...]
_FIRST_BATCH = 3  # labels 0, 1, 2 are M, K, N


@dataclass(frozen=True, slots=True)
class Operands:
    """The two tensors of a contraction and the author's word for it."""

    lhs: Value
    rhs: Value
    accumulator: DType
    spelling: str


def operands(builder: Builder, lhs: Operand, rhs: Operand, accumulator: DType, spelling: str) -> Operands:
    left, right = as_value(builder, lhs), as_value(builder, rhs)
    for value in (left, right):
        if value.is_scalar:
            message = f"I.{spelling} takes tensors, and this is {describe(builder, value)}"
            builder.reject(codes.OPERAND_RANK, message)
    if left.dtype != right.dtype:
        message = f"the operands of I.{spelling} are {left.dtype.name} and {right.dtype.name}"
        builder.reject(codes.OPERAND_DTYPES, message, "cast one of them: the operands share one dtype")
    if left.dtype.kind == "bool":
        builder.reject(codes.OPERAND_DTYPES, f"I.{spelling} multiplies numbers, and these are bool", "cast them first")
    check_accumulator(builder, left.dtype, accumulator, codes.CONTRACTION_ACCUMULATOR)
    return Operands(left, right, accumulator, spelling)


def dot(builder: Builder, given: Operands) -> Value:
    _check_ranks(builder, given, 1, 1, exact=True)
    return _emit(builder, given, (0,), (0,), ())


def matvec(builder: Builder, given: Operands, transposed: bool) -> Value:
    """[…, M, K] times […, K]."""
    _check_ranks(builder, given, 2, 1)
    batch = _batch(given, 2, 1)
    matrix = (1, 0) if transposed else (0, 1)
    return _emit(builder, given, (*batch[0], *matrix), (*batch[1], 1), (*batch[2], 0))


def vecmat(builder: Builder, given: Operands, transposed: bool) -> Value:
    """[…, K] times […, K, N]."""
    _check_ranks(builder, given, 1, 2)
    batch = _batch(given, 1, 2)
    matrix = (0, 1) if transposed else (1, 0)
    return _emit(builder, given, (*batch[0], 1), (*batch[1], *matrix), (*batch[2], 0))


def matmul(builder: Builder, given: Operands, transpose_lhs: bool, transpose_rhs: bool) -> Value:
    """[…, M, K] times […, K, N]."""
    _check_ranks(builder, given, 2, 2)
    batch = _batch(given, 2, 2)
    left = (1, 0) if transpose_lhs else (0, 1)
    right = (2, 1) if transpose_rhs else (1, 2)
    return _emit(builder, given, (*batch[0], *left), (*batch[1], *right), (*batch[2], 0, 2))


def _check_ranks(builder: Builder, given: Operands, lhs: int, rhs: int, exact: bool = False) -> None:
    for value, rank in ((given.lhs, lhs), (given.rhs, rhs)):
        axes = len(value.shape)
        if axes < rank or (exact and axes != rank):
            needed = f"{'' if exact else 'at least '}{rank} {'axis' if rank == 1 else 'axes'}"
            message = f"I.{given.spelling} needs a tensor with {needed} here, and this is {describe(builder, value)}"
            help = "I.dot takes vectors, I.matvec a matrix and a vector, I.matmul two matrices"
            builder.reject(codes.OPERAND_RANK, message, help)


def _batch(given: Operands, lhs: int, rhs: int) -> tuple[Labels, Labels, Labels]:
    """Labels of the batch axes, aligned from the right: of lhs, rhs and the result."""
    left, right = len(given.lhs.shape) - lhs, len(given.rhs.shape) - rhs
    labels = tuple(range(_FIRST_BATCH, _FIRST_BATCH + max(left, right)))
    return labels[len(labels) - left :], labels[len(labels) - right :], labels


def _emit(builder: Builder, given: Operands, lhs: Labels, rhs: Labels, result: Labels) -> Value:
    extents = dict(zip(lhs, given.lhs.shape, strict=True))
    for label, extent in zip(rhs, given.rhs.shape, strict=True):
        stretches = label >= _FIRST_BATCH
        extents[label] = _agreed(builder, given, extents.get(label, extent), extent, stretches)
    op = Contract(given.lhs, given.rhs, lhs, rhs, result, given.accumulator, given.spelling)
    return builder.one(op, Tensor(given.accumulator, tuple(extents[label] for label in result)))


def _agreed(builder: Builder, given: Operands, a: Polynomial, b: Polynomial, stretches: bool) -> Polynomial:
    if a == b or (stretches and a == ONE):
        return b
    if stretches and b == ONE:
        return a
    extents = f"{show_extent(builder, a)} and {show_extent(builder, b)}"
    message = f"I.{given.spelling} pairs axes of different extents: {extents} in {_shapes(builder, given)}"
    builder.reject(codes.CONTRACTED_EXTENTS, message, _transpose_hint(given))


def _shapes(builder: Builder, given: Operands) -> str:
    return f"{describe(builder, given.lhs)} and {describe(builder, given.rhs)}"


def _transpose_hint(given: Operands) -> str | None:
    if given.spelling == "matmul" and given.lhs.shape[-1] == given.rhs.shape[-1]:
        return "write transpose_rhs=True"
    if given.spelling == "matmul" and given.lhs.shape[-2] == given.rhs.shape[-2]:
        return "write transpose_lhs=True"
    return None


# ----------------------------------------------------------------------------------------------------------- contract
def contract(builder: Builder, given: Operands, reduce: Operand, batch: Operand) -> Value:
    """Free lhs axes with the batch axes among them, then free rhs axes."""
    reduced = axis_pairs(builder, reduce, given.lhs.shape, given.rhs.shape, "reduce")
    batched = axis_pairs(builder, batch, given.lhs.shape, given.rhs.shape, "batch")
    lhs, rhs, result = contract_labels(builder, len(given.lhs.shape), len(given.rhs.shape), reduced, batched)
    for left, right in (*reduced, *batched):
        _same_extent(builder, given, left, right)
    extents = dict(zip((*lhs, *rhs), (*given.lhs.shape, *given.rhs.shape), strict=True))
    op = Contract(given.lhs, given.rhs, lhs, rhs, result, given.accumulator, given.spelling)
    return builder.one(op, Tensor(given.accumulator, tuple(extents[label] for label in result)))


Pairs = tuple[tuple[int, int], ...]


def contract_labels(
    builder: Builder, lhs_rank: int, rhs_rank: int, reduced: Pairs, batched: Pairs
) -> tuple[Labels, Labels, Labels]:
    named = (*reduced, *batched)
    if len({left for left, _ in named}) != len(named) or len({right for _, right in named}) != len(named):
        builder.reject(codes.AXIS_PAIRS, "an axis is named twice in reduce and batch")
    lhs = tuple(range(lhs_rank))
    partner = {right: left for left, right in named}
    rhs = tuple(partner.get(axis, lhs_rank + axis) for axis in range(rhs_rank))
    removed = {left for left, _ in reduced}
    free = tuple(label for label in rhs if label >= lhs_rank)
    return lhs, rhs, (*(label for label in lhs if label not in removed), *free)


def axis_pairs(builder: Builder, operand: Operand, lhs: Shape, rhs: Shape, what: str) -> Pairs:
    items = operand.items if isinstance(operand, Product) else (operand,)
    return tuple(_axis_pair(builder, item, lhs, rhs, what) for item in items)


def _axis_pair(builder: Builder, item: Operand, lhs: Shape, rhs: Shape, what: str) -> tuple[int, int]:
    pair = [static_integer(axis) for axis in item.items] if isinstance(item, Product) else []
    match pair:
        case [int() as left, int() as right]:
            return _axis(builder, left, lhs, what), _axis(builder, right, rhs, what)
        case _:
            help = f"write {what}=((1, 0),)"
            builder.reject(codes.AXIS_PAIRS, f"{what} is a tuple of (lhs axis, rhs axis) pairs", help)


def _axis(builder: Builder, axis: int, shape: Sequence[Polynomial], what: str) -> int:
    if not -len(shape) <= axis < len(shape):
        builder.reject(codes.AXIS_PAIRS, f"{what} names axis {axis} of a tensor with {show_axes(len(shape))}")
    return axis % len(shape)


def _same_extent(builder: Builder, given: Operands, left: int, right: int) -> None:
    a, b = given.lhs.shape[left], given.rhs.shape[right]
    if a != b:
        extents = f"{show_extent(builder, a)} and {show_extent(builder, b)}"
        message = f"I.{given.spelling} pairs lhs axis {left} with rhs axis {right}, whose extents are {extents}"
        builder.reject(codes.CONTRACTED_EXTENTS, message)


def outer(builder: Builder, lhs: Operand, rhs: Operand) -> Operand:
    left, right = as_value(builder, lhs), as_value(builder, rhs)
    for value in (left, right):
        if len(value.shape) != 1:
            builder.reject(codes.RANK, f"I.outer takes two vectors, and this is {describe(builder, value)}")
    column = builder.one(Reshape(left), Tensor(left.dtype, (*left.shape, number(1))))
    return binary(builder, "multiply", column, right)
