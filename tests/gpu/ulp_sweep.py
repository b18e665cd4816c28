"""Measures, on a GPU, how far each pointwise function is from the correctly rounded result; prints JSON.

    python tests/gpu/ulp_sweep.py                  about 2**24 float32 arguments per function, every f16 and bf16 one
    python tests/gpu/ulp_sweep.py --stride 1       all 2**32 float32 arguments
    python tests/gpu/ulp_sweep.py --make-table     writes double_values.npz (needs mpmath, no GPU)

Float32 is judged by torch's float64 functions, float64 by the table's values, computed with 60 digits. The exit status
is 1 if a function exceeds its bound. With TRITON_INTERPRET=1 it runs on the CPU, with a large --stride, as a trial of
itself: NumPy's float32 log is less accurate than the device's, and bfloat16 subnormals are read as zero there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from device_kernels import TORCH, Case, load  # noqa: E402

from intent.dtypes import DType, bf16, f8e4m3fn, f8e5m2, f16, f32, f64  # noqa: E402
from translators.triton_source.arithmetic import Permissions, pointwise  # noqa: E402
from translators.triton_source.conversions import cast  # noqa: E402
from translators.triton_source.expressions import Code  # noqa: E402

TABLE = Path(__file__).with_name("double_values.npz")
DEVICE = "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda"
BLOCK = 1024
PIECE = 1 << 24

# Bounds in units in the last place: float32, float64.
BOUNDS = {
    "exp": (2, 1), "exp2": (2, 1), "log": (1, 1), "log1p": (1, 1), "sin": (2, 2), "cos": (2, 2), "tanh": (2, 1),
    "sigmoid": (4, 3), "erf": (2, 2), "erfc": (4, 5), "rsqrt": (2, 1), "asin": (4, 2), "lgamma": (6, 4), "i0": (6, 6),
    "sqrt": (0, 0), "floor": (0, 0), "abs": (0, 0), "negative": (0, 0),
}  # fmt: skip
IN_DOUBLE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "exp": torch.exp, "exp2": torch.exp2, "log": torch.log, "log1p": torch.log1p, "sin": torch.sin, "cos": torch.cos,
    "tanh": torch.tanh, "sigmoid": torch.sigmoid, "erf": torch.erf, "erfc": torch.erfc, "rsqrt": torch.rsqrt,
    "asin": torch.asin, "lgamma": torch.lgamma, "i0": lambda x: torch.where(x.isinf(), x.abs(), torch.special.i0(x)),
    "sqrt": torch.sqrt,
    "floor": torch.floor,
    "abs": torch.abs, "negative": torch.neg,
}  # fmt: skip
SIGNED = {16: torch.int16, 32: torch.int32, 64: torch.int64}


# ------------------------------------------------------------------------------------------------------------ measuring
def ordered(values: torch.Tensor) -> torch.Tensor:
    """Integers in the order of the floats, one apart for neighbours; +0 and -0 coincide."""
    bits = values.view(SIGNED[values.element_size() * 8]).to(torch.int64)
    magnitude = bits & ((1 << (values.element_size() * 8 - 1)) - 1)
    return torch.where(bits < 0, -magnitude, magnitude)


def distance(found: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    apart = (ordered(found) - ordered(expected)).abs()
    missing = found.isnan() | expected.isnan()
    return torch.where(missing, torch.where(found.isnan() & expected.isnan(), 0, 1 << 40), apart)


def evaluate(kernel: Callable[..., object], case: Case, operand: torch.Tensor) -> torch.Tensor:
    out = torch.empty(operand.numel(), dtype=TORCH[case.result.name], device=operand.device)
    kernel[(operand.numel() // BLOCK,)](operand, out, BLOCK=BLOCK)  # type: ignore[index]
    return out


def single_arguments(stride: int) -> Iterator[torch.Tensor]:
    """Every stride-th bit pattern, in pieces."""
    piece = PIECE if DEVICE == "cuda" else 1 << 16
    for start in range(-(2**31), 2**31, piece * stride):
        count = min(piece, max(BLOCK, (2**31 - start) // stride // BLOCK * BLOCK))
        bits = start + torch.arange(count, device=DEVICE, dtype=torch.int64) * stride
        yield bits.clamp(max=2**31 - 1).to(torch.int32).view(torch.float32)


def worst(apart: torch.Tensor, operand: torch.Tensor, found: torch.Tensor, expected: torch.Tensor) -> dict[str, float]:
    place = int(apart.argmax())
    return {
        "ulp": int(apart[place]), "at": float(operand[place]), "found": float(found[place]),
        "expected": float(expected[place]),
    }  # fmt: skip


def excluded(function: str, operand: torch.Tensor) -> torch.Tensor:
    """The neighbourhood of the negative zeros of lgamma."""
    if function != "lgamma":
        return torch.zeros_like(operand, dtype=torch.bool)
    return (operand < -2) & (operand > -11)


def measure(
    kernel: Callable[..., object], function: str, case: Case, pieces: Iterator[torch.Tensor]
) -> dict[str, float]:
    """The worst of all pieces; the operands are narrower than float64."""
    found_worst: dict[str, float] = {"ulp": -1}
    for operand in pieces:
        found = evaluate(kernel, case, operand)
        expected = IN_DOUBLE[function](operand.to(torch.float64)).to(found.dtype)
        apart = torch.where(excluded(function, operand), 0, distance(found, expected))
        if int(apart.max()) > found_worst["ulp"]:
            found_worst = worst(apart, operand, found, expected)
    return found_worst


def every_half(dtype: DType) -> Iterator[torch.Tensor]:
    yield torch.arange(-(2**15), 2**15, device=DEVICE, dtype=torch.int32).to(torch.int16).view(TORCH[dtype.name])


def measure_double(kernel: Callable[..., object], function: str, case: Case) -> dict[str, float]:
    table = np.load(TABLE)
    operand, expected = (torch.from_numpy(table[f"{function}_{part}"]).to(DEVICE) for part in ("x", "y"))
    padded = torch.cat([operand, operand[:1].expand(-operand.numel() % BLOCK)])
    found = evaluate(kernel, case, padded)[: operand.numel()]
    return worst(distance(found, expected), operand, found, expected)


def wrong_casts(kernel: Callable[..., object], case: Case, pieces: Iterator[torch.Tensor]) -> int:
    """How many results differ from torch's conversion (NaN counts as one value)."""
    wrong = 0
    for operand in pieces:
        inside = torch.ones_like(operand, dtype=torch.bool)
        if case.result == f8e4m3fn:
            inside = ~(operand.to(torch.float32).abs() > 448)
        wanted = FLOAT8.get(case.result, TORCH[case.result.name])
        found = evaluate(kernel, case, operand).view(wanted)  # kernels give the bytes of floats of eight bits
        found, expected = found.to(torch.float32), operand.to(wanted).to(torch.float32)
        same = (found == expected) & (found.signbit() == expected.signbit()) | (found.isnan() & expected.isnan())
        wrong += int((~same & inside).sum())
    return wrong


# ---------------------------------------------------------------------------------------------------------------- cases
def pointwise_case(function: str, dtype: DType) -> Case:
    return Case(f"{function}_{dtype.name}", pointwise(function, dtype, dtype, (Code("x"),)), (dtype,), dtype)


def approximate_case(function: str) -> Case:
    emitted = pointwise(function, f32, f32, (Code("x"),), Permissions(approximate=True))
    return Case(f"{function}_approximate", emitted, (f32,), f32)


FLOAT8 = {f8e4m3fn: torch.float8_e4m3fn, f8e5m2: torch.float8_e5m2}
CASTS = [(f32, bf16), (f32, f16), (f32, f8e5m2), (f32, f8e4m3fn), (f16, bf16), (f16, f8e5m2), (f16, f8e4m3fn),
         (bf16, f16), (bf16, f8e5m2), (bf16, f8e4m3fn)]  # fmt: skip


def cast_case(source: DType, target: DType) -> Case:
    return Case(f"cast_{source.name}_{target.name}", cast(Code("x"), source, target), (source,), target)


def sweep(stride: int) -> dict[str, dict[str, float]]:
    functions = {dtype: {name: pointwise_case(name, dtype) for name in BOUNDS} for dtype in (f32, f64, f16, bf16)}
    casts = [cast_case(source, target) for source, target in CASTS]
    approximate = {name: approximate_case(name) for name in ("exp2", "tanh")}
    every = [case for cases in functions.values() for case in cases.values()] + casts + list(approximate.values())
    module = load(every, Path(tempfile.mkdtemp()))
    results: dict[str, dict[str, float]] = {}
    for name, (single, double) in BOUNDS.items():
        case = functions[f32][name]
        results[case.name] = measure(getattr(module, case.name), name, case, single_arguments(stride)) | {
            "bound": single
        }
        for half in (f16, bf16):
            case = functions[half][name]
            results[case.name] = measure(getattr(module, case.name), name, case, every_half(half)) | {"bound": 1}
        case = functions[f64][name]
        results[case.name] = measure_double(getattr(module, case.name), name, case) | {"bound": double}
    for name, case in approximate.items():  # tanh: 2**-11 relative is 2**13 ulp of float32
        bound = {"exp2": 2, "tanh": 1 << 12}[name]
        results[case.name] = measure(getattr(module, case.name), name, case, single_arguments(stride)) | {
            "bound": bound
        }
    for case in casts:
        pieces = single_arguments(stride) if case.operands[0] == f32 else every_half(case.operands[0])
        results[case.name] = {"ulp": wrong_casts(getattr(module, case.name), case, pieces), "bound": 0}
    return results


# ---------------------------------------------------------------------------------------------------------------- table
def make_table(count: int = 300) -> None:
    import mpmath

    mpmath.mp.dps = 60
    exact = {
        "exp": mpmath.exp, "exp2": lambda x: mpmath.power(2, x), "log": mpmath.log, "log1p": mpmath.log1p,
        "sin": mpmath.sin, "cos": mpmath.cos, "tanh": mpmath.tanh, "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
        "erf": mpmath.erf, "erfc": mpmath.erfc, "rsqrt": lambda x: 1 / mpmath.sqrt(x), "asin": mpmath.asin,
        "lgamma": lambda x: mpmath.loggamma(x).real, "i0": lambda x: mpmath.besseli(0, x), "sqrt": mpmath.sqrt,
        "floor": mpmath.floor, "abs": abs, "negative": lambda x: -x,
    }  # fmt: skip
    columns: dict[str, np.ndarray] = {}
    for name in BOUNDS:
        x = double_arguments(name, count)
        columns[f"{name}_x"] = x
        columns[f"{name}_y"] = np.array([float(exact[name](mpmath.mpf(float(value)))) for value in x])
    np.savez_compressed(TABLE, **columns)  # type: ignore[arg-type]


def double_arguments(function: str, count: int) -> np.ndarray:
    """Arguments over the range in which the result is neither zero nor infinite, denser around branches."""
    random = np.random.default_rng(11)
    near = np.concatenate([random.uniform(-1, 1, count), random.uniform(-12, 12, count)])
    small = np.exp(random.uniform(-40, 0, count)) * random.choice([-1, 1], count)
    reach = {"exp": 708, "exp2": 1020, "sigmoid": 700, "erfc": 26, "i0": 700, "sin": 1e6, "cos": 1e6}.get(function, 1e3)
    x = np.concatenate([near, small, random.uniform(-reach, reach, count)])
    if function in ("log", "sqrt", "rsqrt"):
        return np.abs(x)
    if function == "log1p":
        return x[x > -1]
    if function == "asin":
        return x[np.abs(x) <= 1]
    return x[(x > -2) & (x != np.floor(x))] if function == "lgamma" else x


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--stride", type=int, default=251)
    parser.add_argument("--make-table", action="store_true")
    arguments = parser.parse_args()
    if arguments.make_table:
        make_table()
        return 0
    results = sweep(arguments.stride)
    print(json.dumps(results, indent=1))
    beyond = sorted(name for name, result in results.items() if result["ulp"] > result["bound"])
    print(f"beyond their bound: {', '.join(beyond) or 'none'}", file=sys.stderr)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
