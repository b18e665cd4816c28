"""The text of generated modules: formatted, free of lint, deterministic, and fit for the arm that was asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import hand_written_codes as written
import pytest

import intent.dtypes as dtypes
from intent.records import replace
from translators.logical.program import Program
from translators.triton_source.launch import KernelCode
from translators.triton_source.module import ModuleOptions, write_module
from translators.triton_source.module_options import Arm

ARMS: tuple[Arm, ...] = ("both", "host", "device")
FORBIDDEN_ON_DEVICE = ("asnumpy", ".get(", "np.asarray", ".cpu(", ".numpy(", "from_numpy")


def everything() -> list[KernelCode]:
    return [each() for each in written.ALL] + [written.scale("half", dtypes.bf16)]


def text(*codes: KernelCode, arm: Arm = "both") -> str:
    return write_module(written.program(*codes), codes, ModuleOptions(arm=arm))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules")
    for arm in ARMS:
        for code in everything():
            (folder / f"{code.kernel.name}_{arm}.py").write_text(text(code, arm=arm), encoding="utf-8")
        (folder / f"everything_{arm}.py").write_text(text(*everything(), arm=arm), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "command", [["format", "--check"], ["check", "--select", "E,F,I,B,C4,RET,PIE", "--ignore", "B905"]], ids=" ".join
)
def test_ruff_is_content(folder: Path, command: list[str]) -> None:
    options = ["--isolated", "--line-length", "120"]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, *options, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_every_private_name_is_used(folder: Path) -> None:
    for path in folder.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        defined = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        unused = [name for name in defined if name.startswith("_") and source.count(name) < 2]
        assert not unused, path.name


def test_same_input_same_text() -> None:
    assert text(*everything()) == text(*everything())


@pytest.mark.parametrize("code", everything(), ids=lambda code: code.kernel.name)
def test_device_arm_never_mentions_the_host(code: KernelCode) -> None:
    source = text(code, arm="device")
    assert not [word for word in FORBIDDEN_ON_DEVICE if word in source]
    assert f'__all__ = ["{code.kernel.name}", "{code.kernel.name}_out"]' in source


def test_device_docstring_cannot_smuggle_in_a_forbidden_word() -> None:
    code = replace(written.scale(), stages=("x.cpu().numpy()", "np.asarray(cache.get(key))"))
    source = text(code, arm="device")
    assert not [word for word in FORBIDDEN_ON_DEVICE if word in source]


def test_user_text_is_escaped_in_the_docstring() -> None:
    code = replace(written.scale(), stages=('ends """ here \\n \\', "\x07 bell"), traffic='"')
    program = Program("folder/é.py", (code.kernel,), 'a """docstring""" \\')
    tree = ast.parse(write_module(program, [code]))
    docstring = ast.get_docstring(tree)
    assert docstring is not None and 'ends """ here \\n \\' in docstring and 'a """docstring""" \\' in docstring


def test_no_absolute_path_in_the_text() -> None:
    code = written.scale()
    assert "/somewhere" not in write_module(Program("/somewhere/else/file.py", (code.kernel,)), [code])


def test_one_arm_defines_no_function_of_the_other() -> None:
    assert "_device_call" not in text(written.softmax(), arm="host")
    assert "_host_call" not in text(written.softmax(), arm="device")


def test_a_kernel_named_like_a_derived_wrapper_keeps_its_name() -> None:
    module = written.module(written.scale("softmax"), written.scale("softmax_out"))
    assert module.__all__[:2] == ["softmax", "softmax_out_2"]
    assert module.__all__[4:6] == ["softmax_out", "softmax_out_out"]


@pytest.mark.parametrize("name", ["torch", "np", "_launch", "_check", "print", "functools", "triton", "match"])
def test_a_kernel_named_like_something_the_module_needs_is_renamed(name: str) -> None:
    import numpy as np

    module = written.module(written.scale(name))
    assert module.__all__[0] == f"{name}_2"
    assert getattr(module, f"{name}_2")(np.ones(3, "f4"), 2.0).tolist() == [2.0, 2.0, 2.0]


def test_a_view_named_like_a_private_function_is_renamed() -> None:
    import numpy as np

    code = written.total()
    views = [replace(view, name="_host_call") if view.name == "x" else view for view in code.kernel.views]
    variant = replace(
        code.variants[0],
        source=code.variants[0].source.replace("x_ptr", "_host_call_ptr").replace("stride_x", "stride__host_call"),
        arguments=tuple(
            replace(each, view="_host_call") if getattr(each, "view", "") == "x" else each
            for each in code.variants[0].arguments
        ),
    )
    renamed = replace(code, kernel=written.kernel("total", *views), variants=(variant,))
    mass, count = written.module(renamed).total(np.ones(5, "f4"))
    assert (mass, count) == (5, 5)


def test_device_functions_of_two_kernels_may_have_one_name() -> None:
    import numpy as np

    first, second = written.scale("first"), written.scale("second")
    other = replace(
        second.variants[0], function="first_kernel",
        source=second.variants[0].source.replace("second_kernel", "first_kernel").replace("x * factor", "x + factor"),
    )  # fmt: skip
    module = written.module(first, replace(second, variants=(other,)))
    x = np.ones(3, "f4")
    assert module.first(x, 3.0).tolist() == [3.0] * 3 and module.second(x, 3.0).tolist() == [4.0] * 3
