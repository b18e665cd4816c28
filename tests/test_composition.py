"""Host functions that call kernels, carried over into the generated module."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType, SimpleNamespace

import compositions
import numpy as np
import pytest
import torch
from reference_programs import HEADER

import intent
from intent.targets import ReferenceTarget
from translators.options import Options
from translators.pipeline import Compilation, compile_text

FILE = Path(compositions.__file__)
WORKLOADS = FILE.parent.parent / "benchmarks" / "workloads"
X = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], np.float32)

SCALE = """
@intent.kernel
def scale(x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("N",)], factor: I.f32):
    out[:] = x[:] * factor

"""
GROUPS = """
@intent.kernel
def halves(x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("G",)], at: I.Constexpr[int] = 0):
    out[:] = 0.0

"""


def compiled(text: str, arm: str = "both", path: str = "composed.py") -> Compilation:
    return compile_text(text, path, Options(arm=arm))  # type: ignore[arg-type]


def load(source: str | None, folder: Path, name: str = "generated") -> ModuleType:
    assert source is not None
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def module_of(text: str, folder: Path) -> ModuleType:
    found = compiled(HEADER + dedent(text))
    assert found.source is not None, [each.message for each in found.diagnostics]
    return load(found.source, folder)


@pytest.fixture(scope="module", params=["both", "device", "host"])
def module(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The module of `compositions.py` for an arm, and the arrays that its plain functions take."""
    found = compiled(FILE.read_text(encoding="utf-8"), request.param, FILE.name)
    loaded = load(found.source, tmp_path_factory.mktemp(request.param))
    make = torch.from_numpy if request.param == "device" else np.asarray
    yield SimpleNamespace(loaded=loaded, make=make, arm=request.param, source=found.source)


# ------------------------------------------------------------------------------------------------------------- calling
def test_full_sum(module: SimpleNamespace) -> None:
    x = module.make(X)
    for result in (module.loaded.full_sum(x), module.loaded.full_sum(x, 3), module.loaded.full_sum(x, groups_wanted=1)):
        assert type(result) is type(x) and result.shape == () and float(result) == X.sum()
    out = module.make(np.zeros((), np.float32))
    assert module.loaded.full_sum_out(x, out, 2) is None
    assert float(out) == X.sum()
    with pytest.raises(ValueError, match="result 0 has shape and dtype"):
        module.loaded.full_sum_out(x, module.make(np.zeros(2, np.float32)))


def test_loops_and_specialisations(module: SimpleNamespace) -> None:
    wanted = np.concatenate([X[4:], np.zeros(4, np.float32)])
    np.testing.assert_array_equal(np.asarray(module.loaded.smoothed(module.make(X))), wanted)
    assert float(module.loaded.sum_of_smoothed(module.make(X))) == wanted.sum()


def test_in_place(module: SimpleNamespace) -> None:
    state = module.make(X.copy())
    results = module.loaded.raised(state, amount=0.5)
    np.testing.assert_array_equal(np.asarray(state), X + 1)
    assert [float(each) for each in results] == [10, 2]
    high, low = (module.make(np.zeros((), np.float32)) for _ in range(2))
    module.loaded.raised_out(state, high, low)
    assert (float(high), float(low)) == (12, 4)


def test_kernels_as_values(module: SimpleNamespace) -> None:
    result = module.loaded.any_total(module.make(X), named=3)
    assert float(result["total"]) == X.sum() and result["options"] == {"named": 3}


def test_prepared_calls(module: SimpleNamespace) -> None:
    x = module.make(X)
    before, after = module.loaded.prepared_sum(x, groups=3)
    assert (float(before), float(after)) == (0, X.sum())
    assert float(module.loaded.prepared_by_value(x)) == X.sum()
    assert module.loaded.prepared_sum.__doc__.count("before, out") and hasattr(module.loaded, "prepared_sum_out")


def test_wrong_prepared_calls(tmp_path: Path) -> None:
    for call, message in (
        ("C.prepare(x)", "'scale.prepare' takes x, factor, and is given no factor"),
        ("C.prepare(x, 1.0, out=x)", "and no 'out'"),
        ("D.prepare(x)", "takes x, G=, and is given no G"),
    ):
        compile_both = "C = intent.compile(scale)\nD = intent.compile(halves)\n\n"
        found = compiled(HEADER + SCALE + GROUPS + compile_both + f"def f(x):\n    return {call}\n")
        errors = [each.message for each in found.diagnostics if each.severity == "error"]
        assert len(errors) == 1 and message in errors[0], (call, errors)
    loaded = module_of(
        SCALE + "C = intent.compile(scale)\n\ndef f(x, out):\n    return C.prepare(x, 2.0, outputs=out)\n", tmp_path
    )
    call = loaded.f_device(torch.from_numpy(X), (torch.zeros(10),))
    call.launch()
    np.testing.assert_array_equal(call.result().numpy(), 2 * X)
    with pytest.raises(TypeError, match="scale: outputs has 2 arrays for 1 outputs"):
        loaded.f_device(torch.from_numpy(X), (torch.zeros(10), torch.zeros(10)))


def test_only_written_arrays_are_copied_back(module: SimpleNamespace) -> None:
    x = X.copy()
    x.flags.writeable = False
    if module.arm == "device":
        with pytest.raises(TypeError, match="a device array is expected, not a NumPy array"):
            module.loaded.full_sum(x)
        return
    assert float(module.loaded.full_sum(x)) == X.sum()
    with pytest.raises(ValueError, match="an array that the function changes is read-only"):
        module.loaded.raised(x)
    memory = np.zeros(12, np.float32)
    overlapping = {"state": memory[:8], "amount": 1.0}
    module.loaded.raised(**overlapping)
    np.testing.assert_array_equal(memory, [2] * 8 + [0] * 4)


class Protected:
    """A read-only array of a library that exchanges memory, as those of JAX are."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array.copy()
        self.array.flags.writeable = False
        self.shape, self.dtype = array.shape, array.dtype

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)  # type: ignore[arg-type]

    def __dlpack_device__(self) -> object:
        return self.array.__dlpack_device__()


def test_read_only_arrays_of_other_libraries_stay_as_they_are(module: SimpleNamespace) -> None:
    if module.arm == "host":
        return
    suffix = "" if module.arm == "device" else "_device"
    x, state = Protected(X), torch.from_numpy(X.copy())
    full_sum, raised = (getattr(module.loaded, f"{name}{suffix}") for name in ("full_sum", "raised"))
    assert float(full_sum(x)) == X.sum()
    with pytest.raises(ValueError, match="an array that the function changes is read-only"):
        raised(x)
    out = getattr(module.loaded, "full_sum_out" if module.arm == "device" else "full_sum_device_out")
    with pytest.raises(ValueError, match="an array for the results is read-only"):
        out(state, Protected(np.zeros((), np.float32)))
    np.testing.assert_array_equal(x.array, X)


def test_arrays_that_results_or_changes_cannot_be_written_to(module: SimpleNamespace) -> None:
    if module.arm == "device":
        return
    state, memory = X.copy(), np.zeros(3, np.float32)
    for high, low in ((memory[:1], memory[:1]), (memory[1:], memory[:2])):
        with pytest.raises(ValueError, match="the arrays for the results overlap in memory"):
            module.loaded.raised_out(state, high.reshape(-1)[:1].reshape(()), low.reshape(-1)[-1:].reshape(()))
    np.testing.assert_array_equal(state, X)
    repeated = np.lib.stride_tricks.as_strided(memory, (10,), (0,))
    with pytest.raises(ValueError, match="an array that the function changes is read-only, or its elements overlap"):
        module.loaded.raised(repeated)
    module.loaded.raised_out(state[::-1], memory[1:2].reshape(()), memory[2:].reshape(()))
    np.testing.assert_array_equal(state, X + 2)
    assert memory.tolist() == [0, 11, 3]


def test_wrong_arguments_name_kernel_and_parameter(module: SimpleNamespace) -> None:
    with pytest.raises(TypeError, match="group_sums: x must have dtype float32, not float64"):
        module.loaded.full_sum(module.make(X.astype(np.float64)))


def test_what_the_module_exports(module: SimpleNamespace) -> None:
    exported = set(module.loaded.__all__)
    assert {"full_sum", "full_sum_out", "smoothed", "raised", "raised_out", "any_total"} <= exported
    assert "any_total_out" not in exported, "how many arrays it returns is not known"
    assert ("full_sum_device" in exported) == (module.arm == "both")
    assert not exported & {"main", "reference", "build", "at_least_one", "GROUPS"}
    assert not [name for name in exported if name.startswith("_")]
    for word in ("asnumpy", ".get(", "np.asarray", ".cpu(", ".numpy(", "from_numpy"):
        assert module.arm != "device" or word not in module.source
    assert "full_sum(x, groups_wanted) -> out\n    launches group_sums, total;" in module.loaded.__doc__
    assert "intent." not in module.source.partition('"""\n\nimport')[2]


def test_layout(module: SimpleNamespace, tmp_path: Path) -> None:
    path = tmp_path / "generated.py"
    path.write_text(module.source, encoding="utf-8")
    for command in (["format", "--check", "--line-length", "120"], ["check", "--select", "F"]):
        result = subprocess.run([sys.executable, "-m", "ruff", *command, str(path)], capture_output=True, check=False)
        assert result.returncode == 0, result.stdout.decode()
    assert "# never more groups than elements" in module.source
    assert "GROUPS = 8  # in the sum of everything" in module.source


def test_the_file_itself_does_the_same() -> None:
    x = torch.from_numpy(X)
    assert float(intent.build(compositions.build)(x)) == X.sum()
    assert float(intent.build(compositions.build, ReferenceTarget())(x)) == X.sum()
    assert float(compositions.sum_of_smoothed(x)) == X[4:].sum()


def test_the_self_check_still_runs(module: SimpleNamespace, tmp_path: Path) -> None:
    if module.arm != "both":
        pytest.skip("one arm shows it")
    path = tmp_path / "generated.py"
    path.write_text(module.source, encoding="utf-8")
    result = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


# --------------------------------------------------------------------------------------------------- forms of build
def test_lambda_has_the_name_of_the_file(tmp_path: Path) -> None:
    build = """
    def build(context):
        scaled = context.compile("scaled", scale)
        return lambda x, factor=2.0: scaled.run(scaled.run(x, factor), factor)
    """
    found = compiled(HEADER + SCALE + dedent(build), path="some/double-scale.py")
    loaded = load(found.source, tmp_path)
    np.testing.assert_array_equal(loaded.double_scale(X), X * 4)
    out = np.zeros_like(X)
    loaded.double_scale_out(X, out, 3.0)
    np.testing.assert_array_equal(out, X * 9)


def test_build_with_state_is_built_once(tmp_path: Path) -> None:
    text = """
    def build(context, start=2.0):
        \"\"\"Remembers.\"\"\"
        scaled = context.compile("scaled", scale)

        calls = []

        def remembering(x):
            calls.append(x.shape)
            return scaled.run(x, start * len(calls))

        return remembering
    """
    loaded = module_of(SCALE + dedent(text), tmp_path)
    np.testing.assert_array_equal(loaded.remembering(X), X * 2)
    np.testing.assert_array_equal(loaded.remembering(X), X * 4)


@pytest.mark.parametrize("result", ["scaled.run", "functools.partial(scaled.run, factor=2.0)", "[scaled][0].run"])
def test_build_may_return_anything_to_call(tmp_path: Path, result: str) -> None:
    text = f"""
    import functools

    def build(context):
        scaled = context.compile("scaled", scale)
        return {result}
    """
    loaded = load(compiled(HEADER + SCALE + dedent(text), path="anything.py").source, tmp_path)
    arguments = {} if "partial" in result else {"factor": 2.0}
    np.testing.assert_array_equal(loaded.anything(X, **arguments), X * 2)


def test_functions_without_statements_of_their_own(tmp_path: Path) -> None:
    text = """
    scaled = intent.compile(scale)
    doubled = lambda x, factor=2.0: scaled.run(x, factor)  # as an author may write it

    def build(context):
        unused = context.compile("unused", scale)

        def tripled(x):
            another = context.compile("another", scale)
            if x.numel() > 100:
                third = intent.compile(scale)
            return scaled.run(x, 3.0)

        return tripled
    """
    loaded = module_of(SCALE + dedent(text), tmp_path)
    np.testing.assert_array_equal(loaded.doubled(X), X * 2)
    np.testing.assert_array_equal(loaded.tripled(X), X * 3)


def test_name_of_the_kernel(tmp_path: Path) -> None:
    """The composed function keeps its name; the kernel that has the same gives way."""
    text = """
    def build(context):
        scaled = context.compile("scale", scale)
        return lambda x: scaled.run(x, 2.0)
    """
    found = compiled(HEADER + SCALE + dedent(text), path="scale.py")
    loaded = load(found.source, tmp_path)
    np.testing.assert_array_equal(loaded.scale(X), X * 2)
    np.testing.assert_array_equal(loaded.scale_2(X, 3.0), X * 3)


@pytest.mark.parametrize("arm", ["both", "device"])
def test_variables_do_not_hide_functions(tmp_path: Path, arm: str) -> None:
    text = """
    compiled = intent.compile(scale)

    def twice(x):
        scale = compiled.run(x, 2.0)
        scale_device = compiled.run(scale, 2.0)
        _helper = helper(scale_device)
        return _helper

    def helper(x):
        return x + 1
    """
    loaded = load(compiled(HEADER + SCALE + dedent(text), arm).source, tmp_path)
    x = torch.from_numpy(X) if arm == "device" else X
    np.testing.assert_array_equal(np.asarray(loaded.twice(x)), X * 4 + 1)


def test_text_is_carried_over_as_it_stands(tmp_path: Path) -> None:
    text = '''
    import functools
    from math import ceil as up

    NAMES = {
        # for people
        "a": "one\\n  two",
    }


    # What it is for.
    @functools.lru_cache(maxsize=None)
    def named(name):
        text = """first
      second"""
        return NAMES[name] + text


    def labelled(x, /, name="a", *rest, flag: bool = False, **more):
        run = intent.compile(scale)
        if flag:  # a comment

            y = run.run(
                x,  # the input
                2.0,
            )
        else:
            y = run.run(x, float(up(0.5)))
        return y, named(name), rest, more
    '''
    loaded = module_of(SCALE + dedent(text), tmp_path)
    y, label, rest, more = loaded.labelled(X, "a", 1, flag=True, z=2)
    np.testing.assert_array_equal(y, X * 2)
    assert label == "one\n  twofirst\n  second" and rest == (1,) and more == {"z": 2}
    np.testing.assert_array_equal(loaded.labelled(X)[0], X)
    source = Path(loaded.__file__ or "").read_text(encoding="utf-8")
    assert "# What it is for.\n@functools.lru_cache(maxsize=None)\ndef _named(name):" in source
    assert "    if flag:  # a comment\n\n        y = scale_device(\n            x,  # the input" in source


def test_workloads_composed(tmp_path: Path) -> None:
    """The kernels of the benchmarks, as a user would put them together."""
    text = (WORKLOADS / "full_sum.py").read_text(encoding="utf-8")
    composed = """

    def build(context):
        groups = context.compile("groups", sum_groups)
        merge = context.compile("merge", sum_partials)
        return lambda x: merge.run(groups.run(x, G=min(GROUPS, 16)))
    """
    loaded = load(compiled(text + dedent(composed), path="full_sum.py").source, tmp_path)
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    np.testing.assert_allclose(loaded.full_sum(x), x.sum(), rtol=1e-5)


def test_constexprs_bound_by_the_file_only(tmp_path: Path) -> None:
    """A kernel that only has values for its constexprs where it is compiled is no error."""
    kernel = """
    @intent.kernel
    def power(x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("N",)], cube: I.Constexpr[bool]):
        if cube:
            out[:] = x[:] * x[:] * x[:]
        else:
            out[:] = x[:] * x[:]

    def build(context):
        squared = context.compile("squared", power, constexprs={"cube": False})
        cubed = context.compile("cubed", power, constexprs=dict(cube=True))
        return lambda x: (squared.run(x), cubed.run(x))
    """
    loaded = module_of(kernel, tmp_path)
    assert {"squared", "cubed", "composed"} <= set(loaded.__all__) and not hasattr(loaded, "power")
    for actual, wanted in zip(loaded.composed(X), (X**2, X**3), strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-6)


def test_kernels_of_another_file(tmp_path: Path) -> None:
    """Also where the file itself defines none."""
    (tmp_path / "kernels.py").write_text(HEADER + SCALE + GROUPS, encoding="utf-8")
    text = """
    import intent
    import kernels
    from kernels import scale as scaling, halves

    FACTOR = 3.0

    def tripled(x):
        return intent.compile(scaling).run(x, FACTOR)

    def build(context):
        again = context.compile("again", kernels.scale)
        zeros = context.compile("zeros", halves, constexprs={"at": 1})
        return lambda x: (again.run(tripled(x), FACTOR), zeros.run(x, G=2))
    """
    path = tmp_path / "use.py"
    found = compiled(dedent(text), path=str(path))
    loaded = load(found.source, tmp_path)
    np.testing.assert_array_equal(loaded.tripled(X), X * 3)
    first, second = loaded.use(X)
    np.testing.assert_array_equal(first, X * 9)
    np.testing.assert_array_equal(second, [0, 0])
    assert {"scale", "zeros"} <= set(loaded.__all__)
    assert found.program is not None and [Path(each).name for each in found.program.imported] == ["kernels.py"]


def test_a_file_of_host_functions_alone_has_no_kernel() -> None:
    found = compiled("import intent\n\ndef plain(x):\n    return x\n")
    assert [each.code for each in found.diagnostics] == ["INT004"]


# --------------------------------------------------------------------------------------------------------- diagnostics
@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("scale(x, x, 1.0)", "INT126", "the kernel 'scale' is called without having been compiled"),
        ("intent.compile(scale)(x, 1.0)", "INT127", "'scale' takes x, out, factor, and is given no factor"),
        ("intent.compile(scale)(x, x, 1.0, 2)", "INT127", "and is given 4 arguments"),
        ("intent.compile(scale).run(x, factor=1.0, out=x)", "INT127", "'scale.run' takes x, factor, and no 'out'"),
        ("intent.compile(halves).run(x)", "INT127", "'halves.run' takes x, G=, and is given no G"),
        ("intent.compile(halves).run(x, G=1, at=2)", "INT127", "and no 'at'"),
        ("intent.compile(scale).run(x, 1.0, x=x)", "INT127", "and is given 'x' twice"),
        ("intent.compile()", "INT128", "compile is given no kernel"),
        ("intent.compile(reference)", "INT128", "'reference' is no kernel"),
        ("intent.compile(scale, kernels=1)", "INT128", "compile takes kernel"),
        ("intent.compile(scale, constexprs={'by': 1}).run(x, 1.0)", "INT115", "has no constexpr parameter 'by'"),
        ("intent.compile(halves, constexprs={'at': 1.5}).run(x, G=1)", "INT114", "the value of 'at' is 1.5"),
    ],
)
def test_wrong_use(body: str, code: str, message: str) -> None:
    text = f"def composed(x):\n    return {body}\n\n\ndef reference(x):\n    return x\n"
    found = compiled(HEADER + SCALE + GROUPS + text)
    errors = [each for each in found.diagnostics if each.severity == "error"]
    assert found.source is None
    assert [each.code for each in errors] == [code], errors
    assert message in errors[0].message


@pytest.mark.parametrize(
    ("first", "code", "message"),
    [
        ("scaled = context.compile(scale)", "INT128", "the name of a specialisation is a string literal"),
        ("scaled = context.compile(kernel=scale)", "INT128", "context.compile takes a name, then the kernel"),
        ("scaled = context.compile('s', scale)\n    context.empty((3,))", "INT127", "takes a shape and a dtype"),
        ("scaled = context.compile('s', scale)\n    context.empty((3,), 'f33')", "INT127", "'f33' is no dtype"),
        ("scaled = context.compile('s', scale)\n    context.empty((3,), 'float32')", "INT127", "'float32' is no dtype"),
    ],
)
def test_wrong_use_of_the_context(first: str, code: str, message: str) -> None:
    text = f"def build(context):\n    {first}\n    return lambda x: scaled.run(x, 1.0)\n"
    errors = [each for each in compiled(HEADER + SCALE + text).diagnostics if each.severity == "error"]
    assert [each.code for each in errors] == [code], errors
    assert message in errors[0].message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import scipy\n\ndef f(x):\n    return scipy.f(C.run(x, 1.0))\n", "imports scipy"),
        ("def f(x):\n    global seen\n    seen = 1\n    return C.run(x, 1.0)\n", "changes variables of the module"),
        ("def f(x):\n    yield C.run(x, 1.0)\n", "is no plain function"),
        ("def f(x):\n    return C.source, C.run(x, 1.0)\n", "uses .source of a compiled kernel"),
        ("def f(x):\n    return C.run(missing, 1.0)\n", "uses 'missing', which nothing defines"),
        ("def f(x):\n    return C.run(x, 1.0), scale\n", "uses 'scale', which the compiler reads"),
        ("class P:\n    pass\n\ndef f(x):\n    return P, C.run(x, 1.0)\n", "uses 'P', which is no function"),
        (
            "def f(x, k=scale):\n    return intent.compile(k).run(x, 1.0)\n",
            "chooses the kernel to compile when it runs",
        ),
        ("def f(x):\n    return g(C.run(x, 1.0))\n\ndef g(x):\n    return I.exp(x)\n", "uses I.exp"),
        ("def f(x):\n    return C.run(x, 1.0).to(I.quant)\n", "uses I.quant"),
        ("def f(x, torch):\n    return C.run(x, 1.0)\n", "has a variable called torch"),
        ("async def f(x):\n    return C.run(x, 1.0)\n", "is no plain function"),
        ("class f:\n    def __call__(self, x):\n        return C.run(x, 1.0)\n", "is no plain function"),
        ("if True:\n    def f(x):\n        return C.run(x, 1.0)\n", "is defined inside another statement"),
        ("f = 1\n\ndef f(x):\n    return C.run(x, 1.0)\n", "has a name that the file gives several times"),
        (
            "def f(x, context):\n    return context.compile('f', scale).run(x, 1.0)\n",
            "uses 'scale', which the compiler",
        ),
    ],
)
def test_what_is_left_out_is_noted(text: str, reason: str) -> None:
    found = compiled(HEADER + SCALE + "C = intent.compile(scale)\n\n" + text)
    notes = [each.message for each in found.diagnostics if each.code == "INT962"]
    assert found.source is not None and "def f(" not in found.source
    assert len(notes) == 1 and reason in notes[0], notes


def test_words_of_the_host_in_a_module_of_device_functions() -> None:
    text = HEADER + SCALE + "C = intent.compile(scale)\n\ndef f(x):\n    return C.run(x, 1.0).cpu()\n"
    assert compiled(text).source is not None
    (wrong,) = [each for each in compiled(text, "device").diagnostics if each.severity != "note"]
    assert (wrong.code, wrong.span.line) == ("INT902", len(text.splitlines())) and "'f' contains .cpu(" in wrong.message


def test_build_is_not_left_out() -> None:
    found = compiled(HEADER + SCALE + "def build(context):\n    context.compile('s', scale)(1, 2, 3)\n")
    (wrong,) = [each for each in found.diagnostics if each.severity == "unsupported"]
    assert found.source is None and wrong.code == "INT902"
    assert "returns nothing to call" in wrong.message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def build():\n    s = context.compile('s', scale)\n    return lambda x: s.run(x, 1.0)\n", "uses 'context'"),
        (
            "def build(context):\n    return made(context)\n\ndef made(c):\n    return c.compile('s', scale)\n",
            "its context on",
        ),
        (
            "def build(*, context):\n    s = context.compile('s', scale)\n    return lambda x: s.run(x, 1.0)\n",
            "uses 'scale'",
        ),
        ("async def build(context):\n    return context.compile('s', scale)\n", "is no plain function"),
    ],
)
def test_a_build_that_is_no_build(text: str, reason: str) -> None:
    found = compiled(HEADER + SCALE + text)
    (wrong,) = [each for each in found.diagnostics if each.severity == "unsupported"]
    assert found.source is None and wrong.code == "INT902" and reason in wrong.message


def test_a_build_without_a_context_compiles_by_itself(tmp_path: Path) -> None:
    text = "def build():\n    scaled = intent.compile(scale)\n    return lambda x: scaled.run(x, 2.0)\n"
    found = load(compiled(HEADER + SCALE + text).source, tmp_path)
    np.testing.assert_array_equal(found.composed(np.ones(3, np.float32)), np.full(3, 2, np.float32))


def test_an_annotated_lambda_is_a_function(tmp_path: Path) -> None:
    text = "from typing import Any\n\nC = intent.compile(scale)\ntwice: Any = lambda x: C.run(x, 2.0)\n"
    found = load(compiled(HEADER + SCALE + text).source, tmp_path)
    np.testing.assert_array_equal(found.twice(np.ones(3, np.float32)), np.full(3, 2, np.float32))


def test_files_without_compositions_are_as_before() -> None:
    text = HEADER + SCALE
    helpers = "\n\ndef plain(x):\n    return x + 1\n\n\ndef main():\n    print(intent.compile(scale))\n"
    assert compiled(text).source == compiled(text + helpers).source
