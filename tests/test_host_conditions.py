"""What conditions of host code say where a kernel is launched: never more than they do."""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from translators.lifting.files import lift_text
from translators.triton_source.read.host import read_launches
from translators.triton_source.read.source import read_file

KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def double(x_ptr, y_ptr, stride, n, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(y_ptr + row * stride + c, tl.load(x_ptr + row * stride + c, mask=c < n) * 2, mask=c < n)

def run(x, y, flag):
    rows, n = x.shape
{body}
"""
LAUNCH = "double[(rows,)](x, y, x.stride(0), n, BLOCK=128)"


def guards(body: str) -> list[list[str]]:
    indented = "\n".join(f"    {line}" for line in body.replace("LAUNCH", LAUNCH).splitlines())
    file = read_file(KERNEL.format(body=indented), "host.py")
    return [[repr(guard) for guard in launch.guards] for launch in read_launches(file)]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("if n <= 128:\n    LAUNCH", [["128 + -1*n"]]),
        ("if n <= 128 and flag:\n    LAUNCH\nLAUNCH", [["128 + -1*n"], []]),
        ("if n <= 128 or flag:\n    LAUNCH\nelse:\n    LAUNCH", [[], ["-129 + n"]]),
        ("if not n > 64:\n    LAUNCH\nelif n < 100:\n    LAUNCH", [["64 + -1*n"], ["-65 + n", "99 + -1*n"]]),
        ("if n > 128:\n    raise ValueError\nLAUNCH", [["128 + -1*n"]]),
        ("if n > 128:\n    print(n)\nLAUNCH", [[]]),
        ("assert 0 < n <= 128\nLAUNCH", [["-1 + n", "128 + -1*n"]]),
        ("if flag:\n    assert n <= 128\n    LAUNCH\nLAUNCH", [["128 + -1*n"], []]),
        ("if flag:\n    n = n // 2\nif n <= 128:\n    LAUNCH", [[]]),  # it depends on the way to the condition
        ("m = n\nif flag:\n    m += 1\nk = m\nif k <= 128:\n    LAUNCH", [[]]),
        ("most = 128\nif n <= most:\n    LAUNCH", [["128 + -1*n"]]),
        ("most = 128\nif n <= most:\n    most = 256\n    LAUNCH", [[]]),
        ("if rows <= 128:\n    LAUNCH", [[]]),  # the kernel has no such number
    ],
)
def test_conditions(body: str, wanted: list[list[str]]) -> None:
    assert guards(body) == wanted


def test_a_row_fits_where_the_host_says_so() -> None:
    text = KERNEL.format(body=f"    if n <= 128:\n        {LAUNCH}")
    (kernel,) = lift_text(text, "host.py").kernels
    assert kernel.correspondence is not None and not kernel.correspondence.extents
    assert kernel.source is not None and ("x", 'I.In[I.f32, ("rows", "n")]') in [
        (name, annotation.replace('"M"', '"rows"')) for name, annotation in kernel.source.parameters
    ]
    assert verify(text, "host.py", kernel, calls=3).holds


def test_what_only_one_of_several_launches_says_does_not_count() -> None:
    text = KERNEL.format(body=f"    if n <= 128:\n        {LAUNCH}\n    else:\n        {LAUNCH}")
    (kernel,) = lift_text(text, "host.py").kernels
    assert kernel.correspondence is not None
    assert "128 + -1*n" not in [repr(fact) for fact in kernel.correspondence.facts]
