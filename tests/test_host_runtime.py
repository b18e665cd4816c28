"""`intentc compile --host-runtime`: modules that share what moves NumPy arrays."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import ml_dtypes
import numpy as np
import pytest
from command_line import ROOT, intentc

FILES = [str(ROOT / "samples" / name) for name in ("softmax.py", "swiglu.py", "npbench/hdiff.py")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shared")
    done = intentc("compile", *FILES, "-o", f"{folder}/", "--host-runtime", str(folder / "arrays.py"))
    assert done.status == 0, done.errors
    return folder


@pytest.fixture
def modules(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType]:
    monkeypatch.syspath_prepend(str(folder))
    names = ("softmax", "swiglu", "arrays")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    softmax, swiglu, _ = [__import__(name) for name in names]
    return softmax, swiglu


def test_what_moves_arrays_is_there_once(folder: Path) -> None:
    assert {path.name for path in folder.glob("*.py")} == {"softmax.py", "swiglu.py", "hdiff.py", "arrays.py"}
    assert "def _move(" in (folder / "arrays.py").read_text(encoding="utf-8")
    for name in ("softmax", "swiglu", "hdiff"):
        text = (folder / f"{name}.py").read_text(encoding="utf-8")
        assert "\nfrom arrays import " in text
        assert not any(f"def {own}(" in text for own in ("_move", "_to_device", "_to_numpy", "_new_array", "_part"))


def test_two_modules_with_one_runtime(modules: tuple[ModuleType, ModuleType]) -> None:
    softmax, swiglu = modules
    assert softmax._to_device is swiglu._to_device
    x = np.random.default_rng(0).standard_normal((5, 37)).astype("f4")
    for _ in range(2):  # checked, then repeated
        e = np.exp(x * 0.5 - (x * 0.5).max(axis=1, keepdims=True))
        np.testing.assert_allclose(softmax.softmax(x, 0.5), e / e.sum(axis=1, keepdims=True), atol=1e-6)
        np.testing.assert_allclose(softmax.softmax(x[:, ::-1], 0.5)[:, ::-1], softmax.softmax(x, 0.5), atol=1e-6)
    projected = np.stack([x, x + 1], axis=1).astype(ml_dtypes.bfloat16)
    result = swiglu.swiglu(projected)
    assert result.dtype == ml_dtypes.bfloat16
    gate, up = projected.astype("f8").transpose(1, 0, 2)
    np.testing.assert_allclose(result.astype("f8"), gate / (1 + np.exp(-gate)) * up, rtol=2e-2, atol=1e-2)
    np.testing.assert_array_equal(swiglu.swiglu(projected.view("u2")), result.view("u2"))


@pytest.mark.parametrize("name", ["softmax", "hdiff"])
def test_modules_judge_themselves(folder: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(folder / f"{name}.py")], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(line.endswith("ok") for line in done.stdout.splitlines())


def test_the_rest_of_a_module_is_the_same(folder: Path) -> None:
    alone = intentc("compile", FILES[0]).output
    own = set((folder / "softmax.py").read_text(encoding="utf-8").splitlines())
    shared = set((folder / "arrays.py").read_text(encoding="utf-8").splitlines())
    assert own - set(alone.splitlines()) == {"from arrays import _part, _to_device, _to_numpy"}
    assert set(alone.splitlines()) - own <= shared | {"    size, dtype = tensor.nbytes, _dtype_name(tensor)"}


def test_what_was_written_is_compared(folder: Path) -> None:
    arguments = ("compile", *FILES, "-o", f"{folder}/", "--host-runtime", str(folder / "arrays.py"), "--check")
    assert intentc(*arguments).status == 0
    text = (folder / "arrays.py").read_text(encoding="utf-8")
    try:
        (folder / "arrays.py").write_text(text + "\n", encoding="utf-8")
        outcome = intentc(*arguments)
        assert outcome.status == 1 and outcome.errors.split() == ["would", "write", str(folder / "arrays.py")]
    finally:
        (folder / "arrays.py").write_text(text, encoding="utf-8")


def test_as_data(tmp_path: Path) -> None:
    runtime = tmp_path / "arrays.py"
    outcome = intentc("compile", FILES[0], "--host-runtime", str(runtime), "--output-format", "json")
    found = json.loads(outcome.output)["modules"]
    assert [each["path"] for each in found] == [None, str(runtime)]
    assert "from arrays import" in found[0]["source"] and runtime.exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--host-runtime", "torch.py"), "takes a file that modules can import"),
        (("--host-runtime", "queue.py"), "takes a file that modules can import"),
        (("--host-runtime", "my-arrays.py"), "takes a file that modules can import"),
        (("--host-runtime", "arrays"), "takes a file that modules can import"),
        (("--host-runtime", "arrays.py", "--arm", "device"), "not for --arm device"),
        (("--host-runtime", "out.py", "-o", "out.py"), "would overwrite a file of this command"),
        (("--host-runtime", FILES[0]), "would overwrite a file of this command"),
    ],
)
def test_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = intentc("compile", FILES[0], *more)
    outcome.assert_clean()
    assert outcome.status == 2 and message in " ".join(outcome.errors.split())
    assert not list(tmp_path.iterdir())
