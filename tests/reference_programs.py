"""Running Intent source text on the reference, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

import numpy as np

from translators.intent_source.read import read_program
from translators.logical.program import Kernel
from translators.logical.reference import Options, run
from translators.logical.reference_numerics import carrier

HEADER = "import intent\nimport intent.language as I\n\n\n"
CHECKED = Options(verify_types=True)


def kernel(text: str, constexprs: Mapping[str, object] | None = None) -> Kernel:
    """The last kernel of the text, which gets the two import lines."""
    result = read_program(HEADER + dedent(text), "test.py", constexprs or {})
    problems = [each for each in result.diagnostics if each.severity != "note"]
    assert not problems, problems
    return result.program.kernels[-1]


def outputs(text: str, options: Options = CHECKED, extents: Mapping[str, int] | None = None, **arguments: object):
    """The Out arrays of the text's kernel, by name."""
    return run(kernel(text), arguments, extents, options)


def only(text: str, options: Options = CHECKED, extents: Mapping[str, int] | None = None, **arguments: object):
    """The single Out array, as a nested list."""
    (array,) = outputs(text, options, extents, **arguments).values()
    return array.tolist()


def f32(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def i32(*values: int) -> np.ndarray:
    return np.asarray(values, np.int32)


def of(name: str, values: object) -> np.ndarray:
    """An array of the named dtype's carrier."""
    from intent.dtypes import BY_NAME

    return np.asarray(values).astype(carrier(BY_NAME[name]))
