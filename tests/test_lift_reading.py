"""Reading Triton kernels: the effects of every small form, evaluated with memory as a random function."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from translators.lifting.carries import close
from translators.lifting.evaluation import Evaluator, agree, stored_by_effects, stored_by_sinks
from translators.triton_source.read.kernels import Known, ReadKernel, read_kernel
from translators.triton_source.read.source import read_file
from translators.triton_source.read.values import NotLifted

HEADER = "import triton\nimport triton.language as tl\n\n\n"
CORPUS = sorted((Path(__file__).parent / "lift").glob("*.py"))


def read(text: str, known: Known | None = None) -> ReadKernel:
    file = read_file(HEADER + textwrap.dedent(text), "kernel.py")
    return read_kernel(file, file.kernels[0], known or Known())


def body(lines: str, parameters: str = "x_ptr, y_ptr, n, BLOCK: tl.constexpr") -> ReadKernel:
    return read(f"@triton.jit\ndef kernel({parameters}):\n" + textwrap.indent(textwrap.dedent(lines), "    "))


SIZES = {"n": 5, "m": 3, "BLOCK": 4, "programs_0": 2, "programs_1": 2}


def closes(kernel: ReadKernel, sizes: dict[str, int] = SIZES) -> bool:
    """Whether the closed loops store what running them stores."""
    evaluator = Evaluator()
    sinks = close(kernel.arena, kernel.effects)
    return agree(stored_by_effects(kernel.effects, sizes, evaluator), stored_by_sinks(sinks, sizes, evaluator))


def test_parameters_by_use() -> None:
    kernel = body(
        """
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        token = tl.load(tokens + i, mask=i < n, other=0)
        v = tl.load(x_ptr + token * stride, mask=i < n) * scale
        tl.store(y_ptr + i, v.to(tl.float16), mask=i < n)
        """,
        "x_ptr, tokens, y_ptr, n, stride, scale, BLOCK: tl.constexpr",
    )
    found = {parameter.name: (parameter.kind, parameter.dtype.name) for parameter in kernel.effects.parameters}
    assert found == {
        "x_ptr": ("pointer", "f32"),
        "tokens": ("pointer", "i64"),
        "y_ptr": ("pointer", "f16"),
        "n": ("integer", "i32"),
        "stride": ("integer", "i32"),
        "scale": ("float", "f32"),
    }


CLOSED = {
    "bumped pointer": """
        row = tl.program_id(0) * n
        x_ptr += row
        for i in range(n):
            tl.store(y_ptr + row + i, tl.load(x_ptr))
            x_ptr += 1
    """,
    "sum": """
        s = 0.0
        for i in range(0, n, BLOCK):
            s += tl.load(x_ptr + i)
        tl.store(y_ptr, s)
    """,
    "maximum": """
        s = -1.0
        for i in range(n):
            s = tl.maximum(tl.load(x_ptr + i), s)
        tl.store(y_ptr, s)
    """,
    "count": """
        c = 0
        for i in range(n):
            c += (tl.load(x_ptr + i) > 0).to(tl.int32)
        tl.store(y_ptr, c)
    """,
    "nested": """
        s = 0.0
        for i in range(n):
            for j in range(i):
                s += tl.load(x_ptr + i * n + j)
        tl.store(y_ptr, s)
    """,
    "conditional": """
        s = 0.0
        for i in range(n):
            if i > 2:
                s += tl.load(x_ptr + i)
        tl.store(y_ptr, s)
    """,
    "the running total is observed: a scan": """
        s = 0.0
        for i in range(n):
            s += tl.load(x_ptr + i)
            tl.store(y_ptr + i, s)
    """,
    "the total of one variable is part of another": """
        s = 0.0
        t = 0.0
        for i in range(n):
            s += tl.load(x_ptr + i)
            t += s
        tl.store(y_ptr, t)
    """,
    "position after the loop": """
        p = x_ptr
        for i in range(n):
            p += 3
        tl.store(y_ptr, tl.load(p))
    """,
}


@pytest.mark.parametrize("lines", CLOSED.values(), ids=CLOSED)
def test_loops_close(lines: str) -> None:
    assert closes(body(lines))


OPEN = {
    "the last value, which there may not be": """
        v = 0.0
        for i in range(n):
            v = tl.load(x_ptr + i)
        tl.store(y_ptr, v)
    """,
    "rounded in every step": """
        s = tl.full((), 0, tl.float16)
        for i in range(n):
            s = (s + tl.load(x_ptr + i)).to(tl.float16)
        tl.store(y_ptr, s)
    """,
    "a linear recurrence": """
        s = 1.0
        for i in range(n):
            s = s * 0.5 + tl.load(x_ptr + i)
        tl.store(y_ptr, s)
    """,
    "a condition that reads what is carried": """
        s = 0.0
        for i in range(n):
            v = tl.load(x_ptr + i)
            s = tl.where(s < 3, s + v, s)
        tl.store(y_ptr, s)
    """,
}


@pytest.mark.parametrize("lines", OPEN.values(), ids=OPEN)
def test_recurrences_stay_loops(lines: str) -> None:
    kernel = body(lines)
    assert all(sink.recurrences for sink in close(kernel.arena, kernel.effects))
    assert all(closes(kernel, {"n": n, "BLOCK": 4}) for n in (0, 1, 4))


@pytest.mark.parametrize(
    "lines",
    [
        "for i in range(n):\n    v = tl.load(x_ptr + i)\ntl.store(y_ptr, v)",
        "v = tl.load(x_ptr)\nwhile v > 0:\n    v = v // 2\ntl.store(y_ptr, v)",
        "tl.store(y_ptr, undefined)",
        "tl.store(y_ptr, tl.max(tl.load(x_ptr + tl.arange(0, BLOCK)), n))",
        "tl.store(y_ptr, tl.load(x_ptr + tl.arange(0, BLOCK)) + tl.load(x_ptr + tl.arange(0, 8)))",
    ],
)
def test_what_is_not_read_is_refused(lines: str) -> None:
    with pytest.raises(NotLifted):
        body(lines)


def test_rounding_to_zero_is_kept() -> None:
    """Triton's // truncates: (i - 3) // 2 is no floor division."""
    kernel = body("i = tl.arange(0, BLOCK)\ntl.store(y_ptr + i, tl.load(x_ptr + (i - 3) // 2))")
    stored = stored_by_effects(kernel.effects, SIZES, Evaluator())
    expected = [stored["y_ptr", i] for i in range(4)]  # at -1, -1, 0, 0
    assert expected[0] == expected[1] != expected[2] == expected[3]


def test_float_arithmetic_is_not_simplified() -> None:
    kernel = body("v = tl.load(x_ptr)\ntl.store(y_ptr, (v + 1.0) - 1.0)")
    (store,) = kernel.effects.stores
    assert store.value.attribute[0] == "subtract" and store.value.arguments[0].attribute[0] == "add"


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_corpus_is_read(path: Path) -> None:
    file = read_file(path.read_text(), path.name)
    for kernel in file.kernels:
        assert read_kernel(file, kernel, Known()).effects.stores
