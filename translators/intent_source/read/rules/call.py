"""Calls of intrinsics: binding arguments to the declared parameters, then the rule of each path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Final, NoReturn

import intent.intrinsics as table
from intent.dtypes import DType
from intent.records import dataclass
from translators.diagnostics import Span
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Format, Keyword, Literal, Operand, Product, Text, Token
from translators.intent_source.read.rules import (
    atomics,
    codes,
    contractions,
    domains,
    memory,
    pointwise,
    quantized,
    random,
    reductions,
    regions,
    scaled,
    shapes,
    sparse,
)
from translators.intent_source.read.rules.literals import dtype_of, flag, is_none


@dataclass(frozen=True, slots=True)
class Call:
    """A bound call: operands by parameter name, and the compile-time ones by kind."""

    builder: Builder
    path: str
    arguments: Mapping[str, Operand]

    def __getitem__(self, name: str) -> Operand:
        return self.arguments[name]

    def these(self, *names: str) -> tuple[Operand, ...]:
        return tuple(self.arguments[name] for name in names)

    def flag(self, name: str) -> bool:
        return flag(self.builder, self.arguments[name], name)

    def dtype(self, name: str = "dtype") -> DType:
        return dtype_of(self.builder, self.arguments[name], name)

    def accumulator(self) -> DType | None:
        """`acc_dtype` where it may be left out."""
        return None if is_none(self.arguments["acc_dtype"]) else self.dtype("acc_dtype")

    def order(self) -> reductions.Order:
        return reductions.Order(self.flag("inclusive"), self.flag("reverse"))

    def combination(self) -> reductions.Combination:
        operands = self.these("identity", "combine", "combine_operands")
        return reductions.Combination(operands[0], operands[1], operands[2], self.accumulator())

    def helpers(self) -> regions.Helpers:
        summarize, combine, identity, operands = self.these("summarize", "combine", "identity", "operands")
        return regions.Helpers(f"I.{self.path}", summarize, combine, identity, operands)

    def contraction(self, lhs: str = "lhs", rhs: str = "rhs") -> contractions.Operands:
        accumulator = self.dtype("acc_dtype")
        return contractions.operands(self.builder, self[lhs], self[rhs], accumulator, self.path)


Rule = Callable[[Builder, Call], Operand]


def call_intrinsic(
    builder: Builder,
    path: str,
    positional: tuple[Operand, ...],
    keywords: dict[str, Operand],
    places: tuple[Span, ...] = (),
) -> Operand:
    """The result of `I.path(...)`; Keyword("None") if it gives nothing.

    `places` are where the arguments stand, in their order, if they stand anywhere.
    """
    intrinsic = table.INTRINSICS.get(path)
    if intrinsic is None or path not in RULES:
        reject_unknown(builder, path)
    if "mask" in keywords and path in ("store", "scatter_unique", "scatter_reduce"):
        builder.reject(codes.NO_MASK, f"I.{path} has no mask", "write it under a scalar `if` inside I.parallel")
    if path == "record":
        return _record(builder, positional, keywords)
    if path == "members" and len(positional) == 2:  # the long spelling of I.members(rows[g])
        positional = (memory.subscript(builder, positional[0], positional[1:]),)
    try:
        bound = intrinsic.bind(positional, keywords)
    except TypeError as error:
        builder.reject(codes.BAD_CALL, str(error), _keepdim_hint(keywords))
    call = Call(builder, path, {name: _operand(value) for name, value in bound.items()})
    names = [each.name for each in intrinsic.parameters if not each.keyword_only][: len(positional)]
    with builder.call(dict(zip([*names, *keywords], places, strict=False))):
        return RULES[path](builder, call)


def reject_unknown(builder: Builder, path: str) -> NoReturn:
    known = (*table.INTRINSICS, *table.FORMATS)
    close = get_close_matches(path, known, 1, 0.6)
    help = f"did you mean I.{close[0]}?" if close else "`intentc api` lists the intrinsics"
    builder.reject(codes.UNKNOWN_INTRINSIC, f"the language has no I.{path}", help)


def _record(builder: Builder, positional: tuple[Operand, ...], keywords: dict[str, Operand]) -> Product:
    if positional or not keywords:
        builder.reject(codes.BAD_CALL, "I.record takes named fields", "write I.record(name=value)")
    return Product(tuple(keywords.values()), tuple(keywords))


def _keepdim_hint(keywords: dict[str, Operand]) -> str | None:
    if {"keepdim", "keepdims"} & set(keywords):
        return "write I.reshape(r, (v.shape[0], 1)) to restore a reduced axis"
    return None


def _operand(value: object) -> Operand:
    """A bound argument: an operand of the call, or the Python value of a default."""
    match value:
        case None:
            return Keyword("None")
        case bool() | int() | float():
            return Literal(value)
        case str():
            return Text(value)
        case DType():
            return Token(value)
        case table.Format(path=path):
            return Format(path)
        case ():
            return Product(())
        case _:
            return value  # type: ignore[return-value]


# -------------------------------------------------------------------------------------------------------------- rules
def _unary(function: str) -> Rule:
    return lambda builder, call: pointwise.float_function(builder, function, call["value"])


def _binary(function: str) -> Rule:
    return lambda builder, call: pointwise.binary(builder, function, call["lhs"], call["rhs"])


def _reduce(kind: str) -> Rule:
    return lambda builder, call: reductions.builtin_reduce(
        builder, kind, call["value"], call["axis"], call.accumulator() if "acc_dtype" in call.arguments else None
    )


def _scan(kind: str) -> Rule:
    return lambda builder, call: reductions.builtin_scan(
        builder, kind, call["value"], call["axis"], call.order(), call.accumulator()
    )


def _atomic(action: str, *values: str) -> Rule:
    return lambda builder, call: atomics.update(
        builder, action, call["target"], call["index"], call.these(*values), call["order"]
    )


def _exp2(builder: Builder, call: Call) -> Operand:
    flags = call.flag("approximate"), call.flag("flush_to_zero")
    return pointwise.float_function(builder, "exp2", call["value"], *flags)


def _tanh(builder: Builder, call: Call) -> Operand:
    return pointwise.float_function(builder, "tanh", call["value"], call.flag("approximate"))


def _fdiv(builder: Builder, call: Call) -> Operand:
    flags = call.flag("approximate"), call.flag("flush_to_zero")
    return pointwise.float_division(builder, call["lhs"], call["rhs"], *flags)


def _parallel(builder: Builder, call: Call) -> Operand:
    builder.reject(codes.NOT_ITERABLE, "I.parallel stands in a for loop", "write `for i in I.parallel(domain):`")


def _matmul(builder: Builder, call: Call) -> Operand:
    given = call.contraction()
    return contractions.matmul(builder, given, call.flag("transpose_lhs"), call.flag("transpose_rhs"))


def _region_scan(builder: Builder, call: Call) -> Operand:
    state = call.these("initial_state", "apply", "emit")
    return regions.region_scan(builder, call["source"], call["axis"], call.helpers(), *state)


def _scaled_sides(call: Call, *group_sizes: str) -> tuple[scaled.Side, scaled.Side]:
    lhs = scaled.Side(call["lhs"], call["lhs_scale"], call["lhs_format"], call[group_sizes[0]])
    return lhs, scaled.Side(call["rhs"], call["rhs_scale"], call["rhs_format"], call[group_sizes[-1]])


def _scaled_contract(builder: Builder, call: Call) -> Operand:
    sides = _scaled_sides(call, "lhs_group_size", "rhs_group_size")
    pairs = (call["reduce"], call["batch"])
    return scaled.scaled_contract(builder, *sides, pairs, call.dtype("acc_dtype"), call.path)


def _scaled_matmul(builder: Builder, call: Call) -> Operand:
    return scaled.scaled_matmul(builder, *_scaled_sides(call, "group_size"), call.dtype("acc_dtype"))


def _sparse_contract(builder: Builder, call: Call) -> Operand:
    lhs = sparse.Sparse(call["compressed"], call["metadata"], call["format"])
    pairs, given = (call["reduce"], call["batch"]), (call.dtype("acc_dtype"), call.path)
    return sparse.sparse_contract(builder, lhs, call["dense_rhs"], pairs, given)


def _sparse_matmul(builder: Builder, call: Call) -> Operand:
    lhs = sparse.Sparse(call["compressed"], call["metadata"], call["format"])
    return sparse.sparse_matmul(builder, lhs, call["rhs"], (call.dtype("acc_dtype"), call.path))


def _two_to_four(builder: Builder, call: Call) -> Operand:
    operands = call.these("compressed_lhs", "metadata", "rhs")
    kept, metadata, rhs = operands
    return sparse.two_to_four(builder, kept, metadata, rhs, (call.dtype("acc_dtype"), call.path))


def _sparse_format(path: str) -> Rule:
    return lambda builder, call: sparse.sparse_format(builder, path, call["compression_axis"], call["logical_extent"])


def _quantized_dot(builder: Builder, call: Call) -> Operand:
    formats = (call["lhs_format"], call["rhs_format"])
    return quantized.quantized_dot(builder, call["lhs"], call["rhs"], formats, call.dtype("acc_dtype"))


_DOMAINS: Final[dict[str, Rule]] = {
    "domain": lambda builder, call: domains.domain(builder, call["start"], call["stop"], call["step"]),
    "parallel": _parallel,
    "indices": lambda builder, call: domains.indices(builder, call["region"]),
    "end": lambda builder, call: domains.end(builder, call["region"]),
    "ragged": lambda builder, call: domains.ragged(
        builder, call["outer"], call["members"], call["offsets"], call["indices"]
    ),
    "members": lambda builder, call: domains.members(builder, call["region"]),
    "assume_in_bounds": lambda builder, call: memory.assume_in_bounds(
        builder, call["index"], call["view"], call["axis"]
    ),
}
_UNARY = (
    "exp", "log", "log1p", "lgamma", "sin", "asin", "cos", "floor", "erf", "erfc", "i0", "rsqrt", "sqrt", "sigmoid",
    "abs",
)  # fmt: skip
_TENSORS: Final[dict[str, Rule]] = {
    **{name: _unary(name) for name in _UNARY},
    **{name: _binary(name) for name in ("add", "maximum", "minimum", "maximum_num", "minimum_num")},
    "exp2": _exp2,
    "tanh": _tanh,
    "fdiv": _fdiv,
    "select": lambda builder, call: pointwise.select(
        builder, call["condition"], call["true_value"], call["false_value"]
    ),
    "mask": lambda builder, call: pointwise.mask(builder, call["value"], call["valid"], call["fill"]),
    "cast": lambda builder, call: pointwise.cast(builder, call["value"], call.dtype()),
    "bitcast": lambda builder, call: pointwise.bitcast(builder, call["value"], call.dtype()),
    "full": lambda builder, call: shapes.full(builder, call["shape"], call["fill"], call.dtype()),
    "zeros": lambda builder, call: shapes.zeros(builder, call["shape"], call.dtype()),
    "reshape": lambda builder, call: shapes.reshape(builder, call["value"], call["shape"]),
    "transpose": lambda builder, call: shapes.transpose(builder, call["value"], call["permutation"]),
    "join": lambda builder, call: shapes.join(builder, call["lhs"], call["rhs"]),
    "record": lambda builder, call: Product(tuple(call.arguments.values()), tuple(call.arguments)),
}
_MEMORY: Final[dict[str, Rule]] = {
    "gather": lambda builder, call: memory.gather(builder, call["source"], call["index"], call["valid"], call["fill"]),
    "store": lambda builder, call: memory.store(builder, call["target"], call["index"], call["value"]),
    "mutable_load": lambda builder, call: memory.mutable_load(builder, call["target"], call["index"]),
    "scatter_unique": lambda builder, call: memory.scatter_unique(
        builder, call["destination"], call["index"], call["value"]
    ),
    "scatter_reduce": lambda builder, call: memory.scatter_reduce(
        builder, call["destination"], call["index"], call["value"], call["combine"]
    ),
    "buffer": lambda builder, call: memory.buffer(builder, call["shape"], call.dtype(), call["init"]),
    "atomic.load": _atomic("load"),
    "atomic.compare_exchange": _atomic("compare_exchange", "expected", "desired"),
    **{f"atomic.{name}": _atomic(name, "value") for name in ("store", "exchange", "add", "max", "min", "xor")},
    **{f"atomic.{name}_": _atomic(name, "value") for name in ("and", "or")},
}
_REDUCTIONS: Final[dict[str, Rule]] = {
    **{f"reduce.{kind}": _reduce(kind) for kind in ("sum", "max", "any", "all")},
    "reduce": lambda builder, call: reductions.generic_reduce(builder, call["value"], call["axis"], call.combination()),
    "arg_reduce.max": lambda builder, call: reductions.arg_reduce_max(
        builder, call["value"], call["axis"], call.accumulator()
    ),
    "scan": lambda builder, call: reductions.generic_scan(
        builder, call["value"], call["axis"], call.combination(), call.order()
    ),
    "cumsum": _scan("sum"),
    "cummax": _scan("max"),
    "histogram": lambda builder, call: reductions.histogram(
        builder, call["values"], call["bins"], call["valid"], call.dtype("count_dtype")
    ),
    "region_fold": lambda builder, call: regions.region_fold(builder, call["source"], call["axis"], call.helpers()),
    "region_scan": _region_scan,
}
_CONTRACTIONS: Final[dict[str, Rule]] = {
    "dot": lambda builder, call: contractions.dot(builder, call.contraction()),
    "matvec": lambda builder, call: contractions.matvec(
        builder, call.contraction("matrix", "vector"), call.flag("transpose")
    ),
    "vecmat": lambda builder, call: contractions.vecmat(
        builder, call.contraction("vector", "matrix"), call.flag("transpose")
    ),
    "matmul": _matmul,
    "outer": lambda builder, call: contractions.outer(builder, call["lhs"], call["rhs"]),
    "contract": lambda builder, call: contractions.contract(builder, call.contraction(), call["reduce"], call["batch"]),
    "scaled_contract": _scaled_contract,
    "scaled_matmul": _scaled_matmul,
    "sparse_contract": _sparse_contract,
    "sparse_matmul": _sparse_matmul,
    "sparse_contract_2to4": _two_to_four,
    "sparse.one_of_two": _sparse_format("sparse.one_of_two"),
    "sparse.two_of_four": _sparse_format("sparse.two_of_four"),
    "quantize": lambda builder, call: quantized.quantize(builder, call["values"], call["format"]),
    "quantized_dot": _quantized_dot,
    "random.bits": lambda builder, call: random.bits(builder, call["seed"], call["logical_counter"]),
    "random.uniform": lambda builder, call: random.uniform(
        builder, call["seed"], call["logical_counter"], call.dtype()
    ),
}
RULES: Final[dict[str, Rule]] = {**_DOMAINS, **_TENSORS, **_MEMORY, **_REDUCTIONS, **_CONTRACTIONS}
