"""Every form that published kernels use computes what its NumPy statement says: by the reference, and as a module."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace

import generated_modules
import numpy as np
import pytest
import sample_files
from form_statements import FORMS, NOT_LOWERED, Form
from sample_files import Arrays, Case, Sample, View
from test_practice_forms import CONSTEXPRS, HEADER, PROGRAMS

SIZES = (5, 7, 3, 4, 6, 2)  # of the symbols without a size of their own, in order of appearance

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")]


def test_every_form_has_a_statement() -> None:
    assert set(FORMS) == set(PROGRAMS)


@pytest.mark.parametrize("title", PROGRAMS)
def test_form_computes_what_is_stated(title: str, tmp_path: Path) -> None:
    form, sample = FORMS[title], _sample(title, tmp_path)
    case = _case(sample, form)
    values = _values(sample, case, form)
    first, second = (_stated(form, sample, case, values, pattern) for pattern in (0x5A, 0xA5))
    written = {name: _same(first[name], second[name]) for name in first}
    assert any(where.any() for where in written.values())
    by_reference = generated_modules.by_reference(sample, case, values)
    assert not _differences(sample, by_reference, first, written)
    if title in NOT_LOWERED:
        return
    by_module = generated_modules.by_module(sample, case, values, small=True)
    assert not _differences(sample, by_module, first, written)


@pytest.mark.parametrize("title", NOT_LOWERED)
def test_what_is_not_lowered_is_reported(title: str, tmp_path: Path) -> None:
    found = generated_modules.compilation(_sample(title, tmp_path).path)
    assert [each.code for each in found.diagnostics if each.severity == "unsupported"] == [NOT_LOWERED[title]]


def _sample(title: str, folder: Path) -> Sample:
    name = "".join(each if each.isalnum() else "_" for each in title)
    path = folder / f"{name[:80]}.py"
    path.write_text(HEADER + PROGRAMS[title], encoding="utf-8")
    (sample,) = (each for each in sample_files.kernels_of(path) if each.kernel == "k")
    return sample


def _case(sample: Sample, form: Form) -> Case:
    sizes = dict(zip(sample.symbols, cycle(SIZES), strict=False)) | dict(form.sizes)
    scalars = {name: value for name, value in form.given.items() if name not in {view.name for view in sample.views}}
    constexprs = {each.name: CONSTEXPRS[each.name] for each in sample.constexprs if each.default is None}
    return {**sizes, **scalars, **constexprs}


def _values(sample: Sample, case: Case, form: Form) -> dict[str, object]:
    """Random arguments but for those given: whole arrays, or numbers to choose elements from."""
    values = sample_files.arguments(sample, case)
    rng = np.random.default_rng(5)
    for view in sample.views:
        if view.name in form.given:
            given = np.array(list(form.given[view.name]))  # type: ignore[call-overload]
            shape = view.sizes(case)
            if given.ndim == 1 and given.shape != shape:
                given = rng.choice(given, shape)
            values[view.name] = np.broadcast_to(given, shape).astype(view.numpy_dtype)
    return values


def _stated(form: Form, sample: Sample, case: Case, values: Mapping[str, object], pattern: int) -> Arrays:
    """The outputs of the statement, in arrays of their dtypes that hold the pattern at first."""
    arguments = {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in values.items()}
    arguments |= {
        view.name: sample_files.poisoned(view, case, pattern) for view in sample.views if view.direction == "Out"
    }
    with np.errstate(all="ignore"):
        form.statement(SimpleNamespace(**arguments))
    return {view.name: np.asarray(arguments[view.name]) for view in sample.outputs}


def _same(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    bits = f"u{first.dtype.itemsize}"
    return np.asarray(np.ascontiguousarray(first).view(bits) == np.ascontiguousarray(second).view(bits))


def _differences(sample: Sample, actual: Arrays, wanted: Arrays, written: Arrays) -> list[str]:
    return [
        f"{view.name}: error {found:.3g}"
        for view in sample.outputs
        if (found := _error(view, actual[view.name], wanted[view.name], written[view.name])) > 0
    ]


def _error(view: View, actual: np.ndarray, wanted: np.ndarray, written: np.ndarray) -> float:
    """The largest error beyond what the dtype allows, of the elements that the statement writes."""
    allowed = sample_files.TOLERANCES[view.dtype.name] if view.dtype.is_float else 0.0
    if not written.any():
        return 0.0
    where = written.reshape(wanted.shape)
    return max(0.0, sample_files.error(actual[where], wanted[where]) - allowed)
