"""The one table of the language's intrinsics: name, signature, result rule, doc.

Reading, documentation and the public attributes of `intent.language` are all generated from `INTRINSICS`; a name that
is not a row here does not exist. What an intrinsic means to the compiler is not this module's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from intent.dtypes import f32
from intent.records import dataclass


class Required:
    """The type of `REQUIRED`, the mark of a parameter without a default."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = Required()


@dataclass(frozen=True, slots=True)
class Format:
    """A storage format of the scaled and quantized contractions, named by its path after `I.` (`quant.q8_k`)."""

    path: str

    def __repr__(self) -> str:
        return f"I.{self.path}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter. `default` is `REQUIRED`, or the value an omitted argument takes."""

    name: str
    keyword_only: bool
    default: object = REQUIRED

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A callable of the language. `path` is its dotted name after `I.`; `section` is that of the language page.

    `effect` marks calls that write memory or make a promise, and so have no place in a pure helper.
    `open_keywords` marks `record`, whose keywords are the author's own field names: `bind` gives {"fields": {...}}.
    """

    path: str
    parameters: tuple[Parameter, ...]
    section: int
    result: str
    doc: str
    effect: bool = False
    open_keywords: bool = False

    @property
    def signature(self) -> str:
        """`I.exp2(value, *, approximate=False, flush_to_zero=False)`."""
        if self.open_keywords:
            return f"I.{self.path}(**fields)"
        return f"I.{self.path}({', '.join(_spell(self.parameters))})"

    def bind(self, positional: tuple[object, ...], keywords: Mapping[str, object]) -> dict[str, object]:
        """Arguments by parameter name, with defaults filled in; TypeError where the call does not fit the signature."""
        if self.open_keywords:
            return self._bind_fields(positional, keywords)
        bound = self._bind_positional(positional)
        for name, value in keywords.items():
            self._check_keyword(name, bound)
            bound[name] = value
        missing = [
            parameter.name for parameter in self.parameters if parameter.required and parameter.name not in bound
        ]
        if missing:
            raise TypeError(f"I.{self.path} misses {_listed(missing)}; the call is {self.signature}")
        return {parameter.name: bound.get(parameter.name, parameter.default) for parameter in self.parameters}

    def _bind_fields(self, positional: tuple[object, ...], keywords: Mapping[str, object]) -> dict[str, object]:
        if positional:
            raise TypeError(f"I.{self.path} takes named fields only: I.{self.path}(name=value)")
        if not keywords:
            raise TypeError(f"I.{self.path} needs at least one field: I.{self.path}(name=value)")
        return {"fields": dict(keywords)}

    def _bind_positional(self, positional: tuple[object, ...]) -> dict[str, object]:
        names = [parameter.name for parameter in self.parameters if not parameter.keyword_only]
        if len(positional) > len(names):
            raise TypeError(self._surplus(len(positional), len(names)))
        return dict(zip(names, positional, strict=False))

    def _surplus(self, given: int, taken: int) -> str:
        """The message for too many positional arguments, which usually are keyword-only ones."""
        keyword_only = [parameter.name for parameter in self.parameters if parameter.keyword_only]
        limit = f"I.{self.path} takes {taken} positional argument{'s' if taken != 1 else ''}, {given} given"
        if keyword_only:
            return f"{limit}; write {_listed(keyword_only)} by name: {self.signature}"
        return f"{limit}; the call is {self.signature}"

    def _check_keyword(self, name: str, bound: Mapping[str, object]) -> None:
        if all(name != parameter.name for parameter in self.parameters):
            raise TypeError(f"I.{self.path} has no parameter '{name}'; the call is {self.signature}")
        if name in bound:
            raise TypeError(f"I.{self.path} was given '{name}' twice; the call is {self.signature}")


def _spell(parameters: tuple[Parameter, ...]) -> list[str]:
    spelled: list[str] = []
    for parameter in parameters:
        if parameter.keyword_only and "*" not in spelled:
            spelled.append("*")
        spelled.append(parameter.name if parameter.required else f"{parameter.name}={parameter.default!r}")
    return spelled


def _listed(names: list[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


# ---------------------------------------------------------------------------------------------------------- formats
FORMATS: Final[Mapping[str, Format]] = {
    path: Format(path) for path in ("e2m1", "e4m3", "e8m0", "quant.q4_k", "quant.q8_k")
}

# ---------------------------------------------------------------------------------------------------- reading the table
_DEFAULTS: Final[Mapping[str, object]] = {
    "None": None,
    "True": True,
    "False": False,
    "()": (),
    "0": 0,
    "1": 1,
    "I.f32": f32,
    "I.quant.q4_k": FORMATS["quant.q4_k"],
    "I.quant.q8_k": FORMATS["quant.q8_k"],
}


def _parameters(signature: str) -> tuple[Parameter, ...]:
    """Parse `value, *, axis, acc_dtype=None`; no default contains a comma."""
    before, _, after = signature.partition("*")
    return _declared(before, keyword_only=False) + _declared(after, keyword_only=True)


def _declared(text: str, keyword_only: bool) -> tuple[Parameter, ...]:
    found = []
    for declaration in filter(None, (part.strip() for part in text.split(","))):
        name, equals, default = declaration.partition("=")
        found.append(Parameter(name, keyword_only, _DEFAULTS[default] if equals else REQUIRED))
    return tuple(found)


def _row(path: str, signature: str, section: int, result: str, doc: str) -> Intrinsic:
    return Intrinsic(path, _parameters(signature), section, result, doc)


def _effect(path: str, signature: str, section: int, result: str, doc: str) -> Intrinsic:
    return Intrinsic(path, _parameters(signature), section, result, doc, effect=True)


_SAME = "the value's dtype and shape"
_COMMON = "the operands' dtype and their broadcast shape"
_OLD = "the old value, in the view's dtype"
_NOTHING = "nothing: a statement"

_UNARY_DOCS: Final[Mapping[str, str]] = {
    "exp": "e to the power of value.",
    "log": "Natural logarithm; NaN below zero.",
    "log1p": "Natural logarithm of 1 + value, exact near zero; -inf at -1.",
    "lgamma": "Logarithm of the absolute value of the gamma function; +inf at its poles.",
    "sin": "Sine of an angle in radians.",
    "asin": "Inverse sine; NaN outside [-1, 1].",
    "cos": "Cosine of an angle in radians.",
    "floor": "The largest integer not above value, as a float.",
    "erf": "The error function.",
    "erfc": "1 - erf(value), without cancellation for large values.",
    "i0": "The modified Bessel function of the first kind of order zero.",
    "rsqrt": "1 / sqrt(value).",
    "sqrt": "The correctly rounded square root; NaN below zero.",
    "sigmoid": "1 / (1 + exp(-value)).",
    "abs": "The absolute value; also of integers, where the minimum wraps to itself.",
}

_DOMAINS = (
    _row(
        "domain", "start, stop, step=1", 4, "a domain", "The coordinates start, start + step, ... below stop; step > 0."
    ),
    _row(
        "parallel",
        "source",
        4,
        "the loop's coordinates",
        "Unordered loop over a domain or a tuple of domains; no carries.",
    ),
    _row("indices", "region", 4, "an index tensor per region", "The source coordinates of a domain or subregion."),
    _row("end", "region", 4, "an index scalar", "The exclusive end coordinate of a domain or subregion."),
    _row(
        "ragged",
        "outer, members, offsets, indices=None",
        4,
        "a ragged domain",
        "Rows members[offsets[g]:offsets[g + 1]], with an optional mapping of members.",
    ),
    _row("members", "region", 4, "an index tensor", "The mapped members of one row of a ragged domain."),
    _effect(
        "assume_in_bounds", "index, view, axis", 4, _NOTHING, "Promise that index is in bounds of the view's axis."
    ),
)

_TENSORS = (
    *(_row(name, "value", 5, _SAME, doc) for name, doc in _UNARY_DOCS.items()),
    _row("exp2", "value, *, approximate=False, flush_to_zero=False", 5, _SAME, "2 to the power of value."),
    _row("tanh", "value, *, approximate=False", 5, _SAME, "Hyperbolic tangent."),
    _row("fdiv", "lhs, rhs, *, approximate=False, flush_to_zero=False", 5, _COMMON, "Float division."),
    _row("add", "lhs, rhs", 5, _COMMON, "lhs + rhs; also a combine of scans and scatters."),
    _row("maximum", "lhs, rhs", 5, _COMMON, "The larger operand; NaN if either is NaN."),
    _row("minimum", "lhs, rhs", 5, _COMMON, "The smaller operand; NaN if either is NaN."),
    _row("maximum_num", "lhs, rhs", 5, _COMMON, "The larger operand; a NaN on one side only is ignored."),
    _row("minimum_num", "lhs, rhs", 5, _COMMON, "The smaller operand; a NaN on one side only is ignored."),
    _row(
        "select",
        "condition, true_value, false_value",
        5,
        "the branches' dtype, broadcast with the condition",
        "true_value where condition holds, else false_value; both are evaluated.",
    ),
    _row("mask", "value, valid, fill", 5, "the value's dtype, broadcast", "value where valid holds, else fill."),
    _row("cast", "value, dtype", 5, "the given dtype, same shape", "Numeric conversion."),
    _row("bitcast", "value, dtype", 5, "the given dtype, same shape", "The same bits as another dtype of equal width."),
    _row("full", "shape, fill, dtype", 5, "a tensor of that shape and dtype", "A tensor that holds fill everywhere."),
    _row("zeros", "shape, dtype", 5, "a tensor of that shape and dtype", "A tensor that holds zero everywhere."),
    _row(
        "reshape",
        "value, shape",
        5,
        "the value's dtype, that shape",
        "The elements in row-major order in another shape.",
    ),
    _row("transpose", "value, permutation=None", 5, "permuted axes", "Permute the axes; all reversed if omitted."),
    _row("join", "lhs, rhs", 5, "a new trailing axis of extent 2", "Two equal-shaped tensors side by side."),
    Intrinsic("record", (), 5, "a record", "An immutable product with named fields.", open_keywords=True),
)

_MEMORY = (
    _row(
        "gather",
        "source, index, valid=True, fill=0",
        6,
        "the source's dtype, the index relation's shape",
        "Read source[index] where valid holds; elsewhere fill, without touching the source.",
    ),
    _effect("store", "target, index, value", 6, _NOTHING, "target[index] = value."),
    _row("mutable_load", "target, index", 6, "as target[index]", "Read a buffer or writable view."),
    _effect("scatter_unique", "destination, index, value", 6, _NOTHING, "Store at destinations that never repeat."),
    _effect(
        "scatter_reduce",
        "destination, index, value, combine",
        6,
        _NOTHING,
        "Merge values into destinations that may repeat.",
    ),
    _row("buffer", "shape, dtype, init=None", 6, "a buffer", "Mutable storage of one kernel instance."),
    _effect("atomic.load", "target, index, order", 6, "the value", "Read one element atomically."),
    _effect("atomic.store", "target, index, value, order", 6, _NOTHING, "Write one element atomically."),
    *(
        _effect(f"atomic.{name}", "target, index, value, order", 6, _OLD, doc)
        for name, doc in (
            ("exchange", "Replace an element."),
            ("add", "Add to an element."),
            ("max", "Replace an element by the larger of it and value."),
            ("min", "Replace an element by the smaller of it and value."),
            ("and_", "Bitwise and into an element."),
            ("or_", "Bitwise or into an element."),
            ("xor", "Bitwise exclusive or into an element."),
        )
    ),
    _effect(
        "atomic.compare_exchange",
        "target, index, expected, desired, order",
        6,
        "a record {old_value, success}",
        "Replace an element by desired if it equals expected.",
    ),
)

_REDUCED = "the value's shape without the reduced axes; a scalar if none is left"
_PREFIX = "the value's shape; sum widens as I.reduce.sum does"

_REDUCTIONS = (
    _row(
        "reduce",
        "value, axis, identity, combine, combine_operands=(), acc_dtype=None",
        7,
        "identity's schema",
        "Generic reduction by an associative and commutative pure helper; tuples and records reduce together.",
    ),
    _row("reduce.sum", "value, *, axis, acc_dtype=None", 7, _REDUCED, "Sum; narrow dtypes are widened first."),
    _row("reduce.max", "value, *, axis, acc_dtype=None", 7, _REDUCED, "Largest element; NaN if there is one."),
    _row("reduce.any", "value, *, axis", 7, _REDUCED, "True if any element is."),
    _row("reduce.all", "value, *, axis", 7, _REDUCED, "True if every element is."),
    _row(
        "arg_reduce.max",
        "value, axis, acc_dtype=None",
        7,
        "(values, indices), reduced; indices have dtype index",
        "The largest element and its lowest position within the axis; the first NaN wins.",
    ),
    _row(
        "scan",
        "value, axis, identity, combine, combine_operands=(), inclusive=True, reverse=False, acc_dtype=None",
        7,
        "the value's schema",
        "Every prefix under an associative pure helper, in order.",
    ),
    _row("cumsum", "value, *, axis, inclusive=True, reverse=False, acc_dtype=None", 7, _PREFIX, "Prefix sums."),
    _row("cummax", "value, *, axis, inclusive=True, reverse=False, acc_dtype=None", 7, _PREFIX, "Prefix maxima."),
    _row(
        "region_fold",
        "source, axis, summarize, combine, identity, operands=()",
        7,
        "identity's schema",
        "Summaries of contiguous slices of one axis, merged in order.",
    ),
    _row(
        "region_scan",
        "source, axis, summarize, combine, identity, initial_state, apply, emit, operands=()",
        7,
        "(outputs, final state)",
        "A region fold that also emits outputs from each slice and the state before it.",
    ),
    _row(
        "histogram", "values, bins, valid, count_dtype", 7, "(bins,) of count_dtype", "Count the valid values per bin."
    ),
)

_CONTRACTIONS = (
    _row("dot", "lhs, rhs, *, acc_dtype", 8, "a rank-zero tensor", "Inner product of two vectors."),
    _row("matvec", "matrix, vector, *, acc_dtype, transpose=False", 8, "[..., M]", "Matrix times vector."),
    _row("vecmat", "vector, matrix, *, acc_dtype, transpose=False", 8, "[..., N]", "Vector times matrix."),
    _row(
        "matmul",
        "lhs, rhs, *, acc_dtype, transpose_lhs=False, transpose_rhs=False",
        8,
        "[..., M, N]",
        "Matrix product; leading batch axes broadcast.",
    ),
    _row("outer", "lhs, rhs", 8, "[M, N] of the operands' dtype", "Every product of two vectors' elements."),
    _row(
        "contract",
        "lhs, rhs, reduce, acc_dtype, batch=()",
        8,
        "free axes of lhs, batch axes among them, then free axes of rhs",
        "Sum of products over pairs of axes.",
    ),
    _row(
        "scaled_contract",
        "lhs, lhs_scale, rhs, rhs_scale, lhs_format, rhs_format, lhs_group_size, rhs_group_size, reduce, "
        "batch=(), acc_dtype",
        8,
        "[M, N] of acc_dtype",
        "Contraction of narrow operands with one scale per group.",
    ),
    _row(
        "scaled_matmul",
        "lhs, lhs_scale, rhs, rhs_scale, *, lhs_format, rhs_format, group_size, acc_dtype",
        8,
        "[M, N] of acc_dtype",
        "Matrix product of narrow operands with one scale per group.",
    ),
    _row(
        "sparse_contract",
        "compressed, metadata, dense_rhs, format, reduce, batch=(), acc_dtype",
        8,
        "as contract",
        "Contraction with a structurally sparse left operand.",
    ),
    _row("sparse_matmul", "compressed, metadata, rhs, *, format, acc_dtype", 8, "[M, N]", "Sparse times dense matrix."),
    _row(
        "sparse_contract_2to4",
        "compressed_lhs, metadata, rhs, acc_dtype",
        8,
        "[M, N]",
        "2:4 sparse times dense matrix.",
    ),
    _row("sparse.one_of_two", "compression_axis, logical_extent", 8, "a format", "One element kept of every two."),
    _row("sparse.two_of_four", "compression_axis, logical_extent", 8, "a format", "Two elements kept of every four."),
    _row("quantize", "values, *, format=I.quant.q8_k", 8, "u8 records", "Encode floats as quantized records."),
    _row(
        "quantized_dot",
        "lhs, rhs, *, lhs_format=I.quant.q4_k, rhs_format=I.quant.q8_k, acc_dtype=I.f32",
        8,
        "a scalar of acc_dtype",
        "Inner product of two quantized vectors.",
    ),
)

_RANDOMNESS = (
    _row("random.bits", "seed, logical_counter", 10, "u32, the counter's shape", "Philox4x32-10 word of a counter."),
    _row(
        "random.uniform",
        "seed, logical_counter, dtype=I.f32",
        10,
        "the given dtype, the counter's shape",
        "Uniform in [0, 1): the upper 24 bits of random.bits.",
    ),
)

INTRINSICS: Final[Mapping[str, Intrinsic]] = {
    intrinsic.path: intrinsic
    for section in (_DOMAINS, _TENSORS, _MEMORY, _REDUCTIONS, _CONTRACTIONS, _RANDOMNESS)
    for intrinsic in section
}

NAMESPACES: Final = frozenset(path.partition(".")[0] for path in (*INTRINSICS, *FORMATS) if "." in path)
"""First parts of dotted paths: `reduce`, `atomic`, `quant`, ... `reduce` is also an intrinsic itself."""
