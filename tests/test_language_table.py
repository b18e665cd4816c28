"""The table of intrinsics: its signatures, binding of arguments, and the public names generated from it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import intent
import intent.language as I
from intent.dtypes import ALL
from intent.intrinsics import FORMATS, INTRINSICS, NAMESPACES

# Declared by the public peer (pre-release 0.1.dev4): parameters in order, * before keyword-only ones, = where optional.
PEER = """
domain start stop step=
parallel source
indices region
end region
ragged outer members offsets indices=
members region
assume_in_bounds index view axis
reshape value shape
join lhs rhs
transpose value permutation=
full shape fill dtype
zeros shape dtype
buffer shape dtype init=
cast value dtype
bitcast value dtype
mask value valid fill
select condition true_value false_value
exp value
exp2 value * approximate= flush_to_zero=
log value
log1p value
lgamma value
sin value
asin value
cos value
floor value
erf value
erfc value
i0 value
rsqrt value
sqrt value
sigmoid value
tanh value * approximate=
abs value
fdiv lhs rhs * approximate= flush_to_zero=
add lhs rhs
maximum lhs rhs
minimum lhs rhs
maximum_num lhs rhs
minimum_num lhs rhs
reduce value axis identity combine combine_operands= acc_dtype=
reduce.sum value * axis acc_dtype=
reduce.max value * axis acc_dtype=
reduce.any value * axis
reduce.all value * axis
arg_reduce.max value axis acc_dtype=
cumsum value * axis inclusive= reverse= acc_dtype=
cummax value * axis inclusive= reverse= acc_dtype=
contract lhs rhs reduce acc_dtype batch=
region_fold source axis summarize combine identity operands=
region_scan source axis summarize combine identity initial_state apply emit operands=
histogram values bins valid count_dtype
gather source index valid= fill=
store target index value
mutable_load target index
scatter_unique destination index value
scatter_reduce destination index value combine
atomic.load target index order
atomic.store target index value order
atomic.exchange target index value order
atomic.add target index value order
atomic.max target index value order
atomic.min target index value order
atomic.and_ target index value order
atomic.or_ target index value order
atomic.xor target index value order
atomic.compare_exchange target index expected desired order
random.bits seed logical_counter
dot lhs rhs * acc_dtype
matvec matrix vector * acc_dtype transpose=
vecmat vector matrix * acc_dtype transpose=
matmul lhs rhs * acc_dtype transpose_lhs= transpose_rhs=
outer lhs rhs
scaled_matmul lhs lhs_scale rhs rhs_scale * lhs_format rhs_format group_size acc_dtype
sparse_matmul compressed metadata rhs * format acc_dtype
sparse_contract_2to4 compressed_lhs metadata rhs acc_dtype
sparse.one_of_two compression_axis logical_extent
sparse.two_of_four compression_axis logical_extent
"""


def _declared(path: str) -> str:
    """A row in the notation of PEER."""
    words = [path]
    for parameter in INTRINSICS[path].parameters:
        if parameter.keyword_only and "*" not in words:
            words.append("*")
        words.append(parameter.name if parameter.required else f"{parameter.name}=")
    return " ".join(words)


@pytest.mark.parametrize("row", PEER.split("\n")[1:-1])
def test_signature_is_the_peers(row: str) -> None:
    assert _declared(row.partition(" ")[0]) == row


@pytest.mark.parametrize("intrinsic", INTRINSICS.values(), ids=list(INTRINSICS))
def test_row_is_complete(intrinsic: I.Intrinsic) -> None:
    assert intrinsic.section in {4, 5, 6, 7, 8, 10}
    assert intrinsic.doc.endswith(".")
    assert intrinsic.result
    assert len({parameter.name for parameter in intrinsic.parameters}) == len(intrinsic.parameters)


@pytest.mark.parametrize("path", INTRINSICS)
def test_calling_outside_a_kernel_names_the_intrinsic(path: str) -> None:
    name: object = I
    for part in path.split("."):
        name = getattr(name, part)
    with pytest.raises(RuntimeError, match=f"I\\.{path} was called outside a kernel"):
        name(1)  # type: ignore[operator]


@pytest.mark.parametrize("namespace", sorted(NAMESPACES - set(INTRINSICS)))
def test_calling_a_namespace_lists_its_members(namespace: str) -> None:
    with pytest.raises(TypeError, match=f"I.{namespace} is a namespace; it has {namespace}"):
        getattr(I, namespace)()


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match=r"no I\.softplus"):
        I.softplus  # noqa: B018
    with pytest.raises(AttributeError, match="'min'; it has"):
        I.reduce.min  # noqa: B018


# ------------------------------------------------------------------------------------------------------------- binding
def test_bind_fills_defaults() -> None:
    assert INTRINSICS["domain"].bind((0, 8), {}) == {"start": 0, "stop": 8, "step": 1}
    assert INTRINSICS["exp2"].bind((1,), {"approximate": True}) == {
        "value": 1,
        "approximate": True,
        "flush_to_zero": False,
    }


def test_bind_keeps_the_order_of_parameters() -> None:
    bound = INTRINSICS["select"].bind((), {"false_value": 3, "condition": 1, "true_value": 2})
    assert list(bound) == ["condition", "true_value", "false_value"]


def test_bind_collects_record_fields() -> None:
    assert INTRINSICS["record"].bind((), {"a": 1, "value": 2}) == {"fields": {"a": 1, "value": 2}}


@pytest.mark.parametrize(
    ("path", "positional", "keywords", "message"),
    [
        ("exp", (), {}, "I.exp misses 'value'"),
        ("select", (1,), {}, "I.select misses 'true_value' and 'false_value'"),
        ("exp", (1, 2), {}, "I.exp takes 1 positional argument, 2 given"),
        ("reduce.sum", (1, 0), {}, "write 'axis' and 'acc_dtype' by name"),
        ("reduce.sum", (1,), {"axis": 0, "keepdim": True}, "no parameter 'keepdim'"),
        ("cast", (1,), {"value": 2, "dtype": 3}, "given 'value' twice"),
        ("record", (1,), {}, "named fields only"),
        ("record", (), {}, "at least one field"),
    ],
)
def test_bind_refuses(path: str, positional: tuple[object, ...], keywords: dict[str, object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        INTRINSICS[path].bind(positional, keywords)


# ----------------------------------------------------------------------------------------- dtypes and annotations
def test_every_dtype_is_public() -> None:
    for dtype in ALL:
        assert getattr(I, dtype.name) is dtype
        assert I.dtype(dtype.name) is dtype


@pytest.mark.parametrize(("spelling", "meant"), [("float32", "f32"), ("torch.bfloat16", "bf16"), ("int64", "i64")])
def test_other_spellings_get_a_hint(spelling: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f'write I.dtype\\("{meant}"\\)'):
        I.dtype(spelling)


def test_dtypes_are_found_by_name() -> None:
    for wrong in (3, None, ["f32"]):
        with pytest.raises(TypeError, match="is no dtype of the language; the dtypes are bool, index"):
            I.dtype(wrong)  # type: ignore[arg-type]


def test_formats_are_values() -> None:
    assert I.quant.q8_k is FORMATS["quant.q8_k"]
    assert repr(I.e4m3) == "I.e4m3"


def test_view_annotation() -> None:
    annotation = I.In[I.f32, ("M", 4), I.constraints(noalias=True)]
    assert (annotation.direction, annotation.dtype, annotation.shape) == ("In", I.f32, ("M", 4))
    assert annotation.constraints.noalias


@pytest.mark.parametrize("arguments", [I.f32, (I.f32,), ("f32", ("M",)), (I.f32, "M"), (I.f32, ("M",), 3)])
def test_view_annotation_refuses(arguments: object) -> None:
    with pytest.raises(TypeError, match=r"I\.Out"):
        I.Out[arguments]


def test_alias_excludes_noalias() -> None:
    with pytest.raises(ValueError, match="alias and noalias"):
        I.constraints(alias="g", noalias=True)


def test_constexpr_takes_python_types() -> None:
    class Mode(I.Enum):
        CAUSAL = 0

    assert I.Constexpr[Mode].value_type is Mode
    with pytest.raises(TypeError, match=r"not I\.i32"):
        I.Constexpr[I.i32]


# ------------------------------------------------------------------------------------------------------- definitions
@intent.kernel
def scale(x: I.In[I.f32, (N,)], y: I.Out[I.f32, (N,)]) -> None:
    """Doubles."""
    y[:] = x[:] * 2.0


def test_definition_keeps_its_place() -> None:
    assert (scale.__name__, scale.__doc__) == ("scale", "Doubles.")
    assert scale.path == __file__
    assert "@intent.kernel" in Path(__file__).read_text(encoding="utf-8").split("\n")[scale.line - 1]


def test_calling_a_kernel_says_to_compile_it() -> None:
    with pytest.raises(RuntimeError, match=r"intent\.compile\(scale\)"):
        scale(1, 2)


def test_decorating_twice_is_refused() -> None:
    with pytest.raises(TypeError, match="decorated twice"):
        intent.fn(scale)  # type: ignore[arg-type]


def test_hosts_learn_what_is_missing() -> None:
    if importlib.util.find_spec("intent.host") is None:
        with pytest.raises(AttributeError, match="intentc compile FILE"):
            intent.compile  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'compyle'"):
        intent.compyle  # noqa: B018


def test_import_is_light() -> None:
    code = (
        "import json, sys, intent, intent.language; print(json.dumps([n for n in sys.modules if n.partition('.')[0] in "
        "('numpy', 'torch', 'triton', 'translators', 'libcst', 'intentc', 'ml_dtypes')]))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(result.stdout) == []
