"""The report of a lift: per kernel, what it is, what it rests on, what was physical, and what stayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from translators.lifting.files import LiftedFile
from translators.lifting.lift import Lifted
from translators.logical.types import View

Verified = Mapping[str, object]


def as_text(lifted: LiftedFile, verified: Verified) -> str:
    return "\n".join(line for kernel in lifted.kernels for line in _kernel_lines(kernel, verified))


def _kernel_lines(kernel: Lifted, verified: Verified) -> Iterator[str]:
    yield f"{kernel.name} (line {kernel.line}): {kernel.status}"
    if kernel.variant_of:
        yield f"    variant   of {kernel.variant_of}, the same program"
    if kernel.reason:
        yield f"    reason    {kernel.reason}"
    for view in kernel.views:
        strides = ", ".join(view.strides)
        yield f"    view      {view.pointer} is {_view(view.view)}, strides ({strides})"
    for note in kernel.notes:
        yield f"    {note.basis:9} {note.text}"
    if kernel.groups:
        yield f"    groups    {', '.join(kernel.groups)}: a block size that the result depends on"
    if kernel.physical:
        yield f"    physical  {', '.join(kernel.physical)}"
    if kernel.name in verified:
        yield f"    verified  {verified[kernel.name]}"
    for text in kernel.numerics:
        yield f"    numerics  {text}"


def _view(view: View) -> str:
    shape = ", ".join(map(repr, view.shape))
    return f"{view.direction} {view.name}[{shape}] {view.dtype.name}"


def as_data(lifted: LiftedFile, verified: Verified) -> dict[str, object]:
    return {"path": lifted.path, "kernels": [_kernel_data(kernel, verified) for kernel in lifted.kernels]}


def _kernel_data(kernel: Lifted, verified: Verified) -> dict[str, object]:
    views = [
        {
            "pointer": each.pointer,
            "name": each.view.name,
            "dtype": each.view.dtype.name,
            "shape": list(map(repr, each.view.shape)),
            "strides": list(each.strides),
            "direction": each.view.direction,
        }
        for each in kernel.views
    ]
    return {
        "name": kernel.name,
        "line": kernel.line,
        "status": kernel.status,
        "reason": kernel.reason,
        "variant_of": kernel.variant_of,
        "views": views,
        "ledger": [{"basis": note.basis, "text": note.text} for note in kernel.notes],
        "groups": list(kernel.groups),
        "physical": list(kernel.physical),
        "verified": str(verified[kernel.name]) if kernel.name in verified else None,
        "numerics": list(kernel.numerics),
    }
