"""Contractions whose left operand keeps one of two, or two of four, elements along one axis.

The kept elements are stored compressed; metadata say where in its group each one stands. The other positions hold zero.
"""

from __future__ import annotations

from intent import dtypes
from intent.dtypes import DType
from intent.records import dataclass
from translators.algebra.polynomial import Polynomial, floor_divide, number
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Format, Literal, Operand, Product
from translators.intent_source.read.rules import codes, contractions
from translators.intent_source.read.rules.contractions import Operands, axis_pairs
from translators.intent_source.read.rules.describe import describe, show_shape
from translators.intent_source.read.rules.formats import format_path
from translators.intent_source.read.rules.literals import integer
from translators.intent_source.read.rules.products import flatten
from translators.intent_source.read.rules.shapes import ONE, Shape, axis_of, extent_of, tensor
from translators.intent_source.read.rules.terms import Number, Term, define, positions
from translators.logical.program import Value

_GROUPS = {"sparse.one_of_two": 2, "sparse.two_of_four": 4}  # positions of one group
_FIELDS = ("first", "second")
_PAIRS = ("reduce", "batch")


@dataclass(frozen=True, slots=True)
class Sparse:
    """The left operand as given."""

    kept: Operand
    metadata: Operand
    format: Operand


@dataclass(frozen=True, slots=True)
class _Sparse:
    """The left operand, checked. `axis` is the compressed one, `extent` its extent with nothing left out."""

    kept: Value
    metadata: tuple[Value, ...]
    group: int
    axis: int
    extent: Polynomial

    def along(self, *extents: Polynomial) -> Shape:
        """The kept elements' shape with other extents in place of the compressed one."""
        shape = self.kept.shape
        return (*shape[: self.axis], *extents, *shape[self.axis + 1 :])


def sparse_format(builder: Builder, path: str, axis: Operand, extent: Operand) -> Format:
    integer(builder, axis, "compression_axis")
    extent_of(builder, extent)
    return Format(path, (("compression_axis", axis), ("logical_extent", extent)))


def sparse_contract(
    builder: Builder, lhs: Sparse, rhs: Operand, pairs: tuple[Operand, Operand], given: tuple[DType, str]
) -> Value:
    """`pairs` are `reduce` and `batch`; `given` is the accumulation dtype and the author's word for the operation."""
    operands = contractions.operands(builder, lhs.kept, rhs, *given)
    sparse = _checked(builder, operands.lhs, lhs, given[1])
    arguments = (sparse.kept, *sparse.metadata, operands.rhs)

    def definition() -> Term:
        whole = Operands(_restored(builder, sparse).value, operands.rhs, *given)
        return Term(builder, contractions.contract(builder, whole, *pairs))

    rank = len(sparse.kept.shape), len(operands.rhs.shape)
    shapes = sparse.along(sparse.extent), operands.rhs.shape
    reduced, batched = (axis_pairs(builder, each, *shapes, what) for each, what in zip(pairs, _PAIRS, strict=True))
    labels = contractions.contract_labels(builder, *rank, reduced, batched)
    attributes = (
        ("group", sparse.group), ("axis", sparse.axis), ("extent", sparse.extent), ("labels", labels),
        ("accumulator", given[0]),
    )  # fmt: skip
    return define(builder, "sparse_contract", arguments, attributes, definition)


def sparse_matmul(builder: Builder, lhs: Sparse, rhs: Operand, given: tuple[DType, str]) -> Value:
    pairs = Product((Product((Literal(1), Literal(0))),)), Product(())
    return sparse_contract(builder, lhs, rhs, pairs, given)


def two_to_four(builder: Builder, kept: Operand, metadata: Operand, rhs: Operand, given: tuple[DType, str]) -> Value:
    """The format follows from the operands: the last axis of lhs is compressed, and rhs has its extent."""
    compressed, dense = tensor(builder, kept, f"I.{given[1]}"), tensor(builder, rhs, f"I.{given[1]}")
    axis, extent = Literal(len(compressed.shape) - 1), builder.size(dense.shape[0] if dense.shape else ONE)
    format = sparse_format(builder, "sparse.two_of_four", axis, extent)
    return sparse_matmul(builder, Sparse(compressed, metadata, format), dense, given)


# ------------------------------------------------------------------------------------------------------------- checks
def _checked(builder: Builder, kept: Value, given: Sparse, spelling: str) -> _Sparse:
    path = format_path(builder, given.format, tuple(_GROUPS))
    assert isinstance(given.format, Format)
    arguments = dict(given.format.arguments)
    axis = axis_of(builder, arguments["compression_axis"], kept.shape)
    extent = extent_of(builder, arguments["logical_extent"])
    group = _GROUPS[path]
    if extent.constant is not None and extent.constant % group:
        message = f"the logical extent {extent.constant} of I.{path} is no multiple of {group}"
        builder.reject(codes.FORMAT, message)
    metadata = _metadata(builder, given.metadata, path)
    sparse = _Sparse(kept, metadata, group, axis, extent)
    wanted = sparse.along(floor_divide(extent, number(2)))
    _check_extent(builder, kept, wanted, axis, f"the kept elements of I.{spelling}")
    for value in metadata:
        _check_extent(builder, value, sparse.along(floor_divide(extent, number(group))), axis, f"metadata of I.{path}")
    return sparse


def _metadata(builder: Builder, given: Operand, path: str) -> tuple[Value, ...]:
    """One position of every group, or the record of two."""
    names = given.names if isinstance(given, Product) else None
    if path == "sparse.two_of_four" and sorted(names or ()) != sorted(_FIELDS):
        message = f"the metadata of I.{path} are a record, and this is {describe(builder, given)}"
        builder.reject(codes.FORMAT, message, "write I.record(first=..., second=...)")
    fields = dict(zip(names, flatten(given), strict=True)) if names else {}
    leaves = [fields[name] for name in _FIELDS] if path == "sparse.two_of_four" else [given]
    values = tuple(tensor(builder, leaf, f"the metadata of I.{path}") for leaf in leaves)
    for value in values:
        if value.dtype != dtypes.index:
            message = f"the metadata of I.{path} are positions in a group, of dtype index, not {value.dtype.name}"
            builder.reject(codes.FORMAT, message, "write I.cast(..., I.index)")
    return values


def _check_extent(builder: Builder, value: Value, wanted: Shape, axis: int, what: str) -> None:
    """The shape is as wanted, except that the compressed extent may be for the host to check."""
    same_rank = len(value.shape) == len(wanted)
    numbers = same_rank and value.shape[axis].constant is not None and wanted[axis].constant is not None
    loose = [ordinal for ordinal in range(len(wanted)) if ordinal != axis or numbers]
    if not same_rank or any(value.shape[ordinal] != wanted[ordinal] for ordinal in loose):
        shapes = f"{show_shape(builder, wanted)}, not {show_shape(builder, value.shape)}"
        builder.reject(codes.FORMAT, f"{what} have the shape {shapes}")


# --------------------------------------------------------------------------------------------------------- definition
def _restored(builder: Builder, sparse: _Sparse) -> Term:
    """The left operand with its zeros, which an ordinary contraction takes."""
    groups, group, axis = floor_divide(sparse.extent, number(sparse.group)), sparse.group, sparse.axis
    kept = Term(builder, sparse.kept).reshape(*sparse.along(groups, number(group // 2)))
    before, after = axis + 1, len(sparse.kept.shape) - axis - 1
    place = positions(builder, group, dtypes.index).reshape(*(1,) * before, group, *(1,) * after)
    result: Term | Number = 0.0 if sparse.kept.dtype.is_float else 0
    for ordinal, value in reversed(list(enumerate(sparse.metadata))):
        chosen = Term(builder, value).reshape(*sparse.along(groups, ONE))
        one = kept[(slice(None),) * before + (slice(ordinal, ordinal + 1),)]
        result = chosen.equals(place).choose(one, result)
    assert isinstance(result, Term)
    return result.reshape(*sparse.along(sparse.extent)).named("lhs")
