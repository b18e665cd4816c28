"""Scalar functions that a decorator of the package makes into kernels over whole arrays.

Such a function says what happens to one element of each array. Its kernel is written out here: one program for each
block of elements, arrays of one shape and without gaps. What the decorator does beyond that (broadcasting, strides,
dtypes of results) is its host code's business.
"""

from __future__ import annotations

import ast
from typing import Final

DECORATOR: Final = "pointwise_dynamic"
SCALAR_NAME: Final = "{}_of_one_element"

Definition = tuple[ast.FunctionDef, tuple[ast.expr, ...]]


def elementwise_kernel(node: ast.FunctionDef, decorators: tuple[ast.expr, ...]) -> ast.FunctionDef | None:
    """The kernel over arrays, if the function is decorated so."""
    found = next((each for each in decorators if _name(each) == DECORATOR), None)
    results = None if found is None else _results(node)
    if found is None or results is None or node.args.vararg or node.args.kwonlyargs:
        return None
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    arrays = _arrays(found, len(names))
    loads = [f"tl.load({name} + i, mask=inside)" if array else name for name, array in zip(names, arrays, strict=True)]
    outputs = ["out"] if results == 1 else [f"out{number}" for number in range(results)]
    taken = {"i", "inside", "values", "count", "BLOCK", *outputs, *(f"{each}_value" for each in outputs)}
    if taken & set(names) or not any(arrays):
        return None
    parts = ", ".join(f"{each}_value" for each in outputs)
    stores = "\n".join(f"    tl.store({each} + i, {each}_value, mask=inside)" for each in outputs)
    text = (
        f"def {node.name}({', '.join((*names, *outputs))}, count, BLOCK: tl.constexpr):\n"
        f"    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        f"    inside = i < count\n"
        f"    {parts} = {SCALAR_NAME.format(node.name)}({', '.join(loads)})\n"
        f"{stores}\n"
    )
    made = ast.parse(text).body[0]
    assert isinstance(made, ast.FunctionDef)
    return ast.increment_lineno(made, node.lineno - 1)


def _name(decorator: ast.expr) -> str:
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2]


def _arrays(decorator: ast.expr, count: int) -> list[bool]:
    """Which parameters are arrays: all, unless the decorator says so."""
    for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
        if keyword.arg == "is_tensor" and isinstance(keyword.value, ast.List) and len(keyword.value.elts) == count:
            return [isinstance(each, ast.Constant) and each.value is True for each in keyword.value.elts]
    return [True] * count


def _results(node: ast.FunctionDef) -> int | None:
    returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value is not None]
    counts = {len(each.elts) if isinstance(each, ast.Tuple) else 1 for each in returned}
    return counts.pop() if len(counts) == 1 else None
