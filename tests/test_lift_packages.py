"""Kernels of packages: helpers and constants of other files, flags that are known by value, verification of slices."""

from __future__ import annotations

import textwrap
from pathlib import Path

from intentc.lift_slices import sliced
from intentc.lift_verification import verify
from translators.lifting.files import Wanted, lift_text
from translators.lifting.lift import Lifted
from translators.triton_source.read.source import read_file

HEAD = "import triton\nimport triton.language as tl\n"
FILES = {
    "pack/__init__.py": "from pack.numbers import HALF\n",
    "pack/numbers.py": f"""
        {HEAD.replace(chr(10), chr(10) + " " * 8)}
        HALF = tl.constexpr(1 / 2)
        MODE_SCALE: tl.constexpr = tl.constexpr(2)

        @triton.jit
        def row():
            return tl.program_id(0).to(tl.int64)
    """,
    "pack/ops/__init__.py": "",
    "pack/ops/kernels.py": f"""
        {HEAD.replace(chr(10), chr(10) + " " * 8)}
        import os
        import device_library_that_is_not_installed
        from pack import HALF, numbers as lib
        from ..numbers import MODE_SCALE

        if version("triton") >= "2.0" and not on_a_strange_device():
            from ..numbers import MODE_SCALE
        else:
            MODE_SCALE = 3

        if os.environ.get("PACK_FAST", "0") == "1":
            @triton.jit
            def activation(v):
                return v
        else:
            @triton.jit
            def activation(v):
                return v * tl.sigmoid(v)

        @triton.jit
        def scale_kernel(x_ptr, y_ptr, stride, n, MODE: tl.constexpr, BIAS: tl.constexpr, BLOCK: tl.constexpr):
            c = tl.arange(0, BLOCK)
            v = activation(tl.load(x_ptr + lib.row() * stride + c, mask=c < n))
            if MODE == MODE_SCALE:
                v = v * HALF
            if BIAS:
                v = v + 1.0
            tl.store(y_ptr + lib.row() * stride + c, v, mask=c < n)

        def add_one(x_ptr, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1.0, mask=i < n)

        increment = triton.autotune(configs=[], key=[])(triton.jit(add_one))
    """,
}


def package(directory: Path) -> Path:
    for name, text in FILES.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return directory / "pack/ops/kernels.py"


def lifted(path: Path, kernel: str, **constants: object) -> Lifted:
    (made,) = lift_text(path.read_text(), str(path), Wanted(kernel, constants)).kernels
    return made


def body(kernel: Lifted) -> str:
    assert kernel.source is not None, kernel.reason
    return "\n".join(kernel.source.body)


def test_names_of_other_files(tmp_path: Path) -> None:
    path = package(tmp_path)
    kernel = lifted(path, "scale_kernel", MODE=2, BIAS=False)
    assert "I.sigmoid" in body(kernel) and "0.5" in body(kernel) and "1.0" not in body(kernel)
    assert verify(path.read_text(), str(path), kernel, calls=2).holds


def test_a_flag_is_lifted_for_a_value_that_the_ledger_names(tmp_path: Path) -> None:
    path = package(tmp_path)
    kernel = lifted(path, "scale_kernel")
    noted = [note.text for note in kernel.notes if note.basis == "assumed"]
    assert "MODE is 2; for another value it is another kernel" in noted
    assert "BIAS is False; for another value it is another kernel" in noted
    assert "0.5" in body(kernel)
    given = lifted(path, "scale_kernel", MODE=7, BIAS=True)
    assert "1.0" in body(given) and "0.5" not in body(given)
    assert not any("another kernel" in note.text for note in given.notes if note.basis == "assumed")


CHANNELS = (
    HEAD
    + """
@triton.jit
def mix_kernel(x, w, out, N: tl.constexpr, CHANNELS: tl.constexpr, stride_n: tl.constexpr, BLOCK: tl.constexpr):
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for channel in tl.static_range(CHANNELS):
        index = (n * stride_n + channel).to(tl.uint32)
        total += tl.load(x + index, mask=n < N, other=0.0) * tl.load(w + channel)
    tl.store(out + n, total, mask=n < N)
"""
)


def test_compile_time_sizes_of_arrays_are_no_tiles() -> None:
    """A size that counts no lanes is one of the data, whether or not it is known at compile time."""
    (kernel,) = lift_text(CHANNELS, "mix.py", Wanted(constants={"CHANNELS": 3})).kernels
    assert kernel.status == "lifted" and kernel.physical == ("BLOCK", "CHANNELS")
    assert "n = I.domain(0, N)" in body(kernel)
    assert verify(CHANNELS, "mix.py", kernel, calls=3).holds


WORDS = (
    HEAD
    + """
@triton.jit
def largest(dtype: tl.constexpr):
    kind: tl.constexpr = dtype.value
    if kind is tl.float32:
        return float("inf")
    return 1.0


@triton.jit
def both_kernel(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    rows, columns = row < M, column < N
    mask = rows and columns
    x = tl.load(x_ptr + row * N + column, mask=mask, other=largest(tl.float32))
    small = x < 0.0 or x > 1.0
    tl.store(out_ptr + row * N + column, tl.where(not small, x, 0.0), mask=mask)


def both(x):
    M, N = x.shape
    out = torch.empty_like(x)
    both_kernel[triton.cdiv(M, 16), triton.cdiv(N, 16)](x, out, M, N, BLOCK_M=16, BLOCK_N=16)
    return out


@triton.jit
def abs(x_ptr, n, width, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    shift = n // (n // width)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, tl.where(x < 0, -x, x) + shift, mask=i < n)
"""
)


def test_words_of_python_mean_what_they_mean_on_a_device() -> None:
    """`and`, `or`, `not` are lane by lane; `.value` is that of a type; no kernel takes a name of Python's own."""
    made = {kernel.name: kernel for kernel in lift_text(WORDS, "words.py").kernels}
    assert verify(WORDS, "words.py", made["both_kernel"], calls=3).holds
    assert verify(WORDS, "words.py", made["abs"], calls=3).holds
    source = made["abs"].source
    assert source is not None and source.name == "abs_kernel"


def test_kernels_made_by_a_call(tmp_path: Path) -> None:
    path = package(tmp_path)
    assert "+ I.cast(1.0" in body(lifted(path, "increment")) or "+ 1.0" in body(lifted(path, "increment"))


def test_slices_keep_the_scope_of_names(tmp_path: Path) -> None:
    path = package(tmp_path)
    texts = sliced(read_file(path.read_text(), str(path)), "scale_kernel")
    assert list(texts) == ["slice_0", "slice_1"]
    assert "import slice_1 as lib" in texts["slice_0"] and "def row()" in texts["slice_1"]
    assert "lift_shims.to(tl.program_id(0), tl.int64)" in texts["slice_1"]
    assert "not_installed" not in texts["slice_0"] and "HALF = 0.5" in texts["slice_0"]
