"""`intentc lift`: the command, its reports, round trips of generated modules, and verification side by side."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from intent.records import replace
from intentc.lift_verification import verify
from translators.intent_source.write import Text, binary, unary
from translators.lifting.files import LiftedFile, lift_text
from translators.pipeline import compile_text

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "tests" / "lift"
ROUND_TRIPS = (
    "saxpy",
    "gelu_residual",
    "softmax",
    "layer_norm",
    "rms_norm",
    "column_sum",
    "transpose",
    "gemm",
    "swiglu",
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "intentc", "lift", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)


def lifted(name: str) -> LiftedFile:
    return lift_text((CORPUS / f"{name}.py").read_text(), f"{name}.py")


def test_source_on_standard_output() -> None:
    done = run("tests/lift/vector_add.py")
    assert done.returncode == 0
    assert "output[elements] = x[elements] + y[elements]" in done.stdout


def test_report_as_json_is_all_of_standard_output() -> None:
    done = run("tests/lift/gathers.py", "--report", "json")
    kernels = {kernel["name"]: kernel for kernel in json.loads(done.stdout)["kernels"]}
    assert kernels["partial_sum_kernel"]["status"] == "lifted with groups"
    assert kernels["partial_sum_kernel"]["groups"] == ["BLOCK"]
    assert kernels["embedding_kernel"]["physical"] == ["BLOCK_M", "BLOCK_N"]
    assert all(note["basis"] in ("proven", "host", "assumed") for each in kernels.values() for note in each["ledger"])


def test_what_is_not_lifted_is_said_with_its_line(tmp_path: Path) -> None:
    text = (CORPUS / "vector_add.py").read_text()
    text += "\n\n@triton.jit\ndef other(p):\n    while True:\n        tl.store(p, 1)\n"
    path = tmp_path / "two.py"
    path.write_text(text)
    done = run(str(path))
    assert done.returncode == 0 and "'other' is not lifted: line " in done.stderr
    assert run(str(path), "--strict").returncode == 1
    assert run(str(path), "--kernel", "other").returncode == 1


def test_no_python_is_a_diagnostic(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def f(:\n")
    done = run(str(path))
    assert done.returncode == 1 and "INT001" in done.stderr


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_generated_modules_lift_back(name: str) -> None:
    """Every variant of a plan is the same program, without a trace of its tiles, and it compiles again."""
    path = ROOT / "samples" / f"{name}.py"
    compiled = compile_text(path.read_text(), path.name)
    assert compiled.source is not None
    # A function that reads tiles through descriptors does what its plain variant does (tests/test_described_tiles.py),
    # and so does one for large sizes that goes through scratch memory (tests/test_beyond_limits.py).
    variants = [variant for code in compiled.codes for variant in code.variants]
    others = {variant.function for variant in variants if variant.described or variant.beyond}
    bodies = set()
    for kernel in lift_text(compiled.source, f"{name}_triton.py").kernels:
        if kernel.name in others:
            continue
        assert kernel.status == "lifted" and kernel.source is not None, kernel.reason
        bodies.add((kernel.source.parameters, kernel.source.body))
    assert len({parameters for parameters, _ in bodies}) == 1


@pytest.mark.parametrize(("name", "count"), [("gathers", 2), ("matrices", 2), ("in_place", 3), ("decoded", 2)])
def test_verification(name: str, count: int) -> None:
    text = (CORPUS / f"{name}.py").read_text()
    for kernel in lifted(name).kernels[:count]:
        found = verify(text, f"{name}.py", kernel, calls=3)
        assert found.holds, (kernel.name, str(found))


def test_verification_finds_a_wrong_lift() -> None:
    text = (CORPUS / "vector_add.py").read_text()
    (kernel,) = lifted("vector_add").kernels
    assert kernel.source is not None
    wrong = replace(kernel.source, body=tuple(line.replace(" + y", " - y") for line in kernel.source.body))
    found = verify(text, "vector_add.py", replace(kernel, source=wrong), calls=2)
    assert not found.holds and found.agreed == 0


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (binary("*", binary("+", Text("a"), Text("b")), Text("c")), "(a + b) * c"),
        (binary("-", Text("a"), binary("-", Text("b"), Text("c"))), "a - (b - c)"),
        (binary("&", binary("<", Text("a"), Text("b")), Text("c")), "(a < b) & c"),
        (binary("<", binary("<", Text("a"), Text("b")), Text("c")), "(a < b) < c"),
        (binary("**", unary("-", Text("a")), binary("**", Text("b"), Text("c"))), "(-a)**(b**c)"),
        (unary("-", binary("**", Text("a"), Text("b"))), "-a**b"),
        (unary("-", binary("*", Text("a"), Text("b"))), "-(a * b)"),
        (unary("not ", binary("&", Text("a"), Text("b"))), "not a & b"),
    ],
)
def test_parentheses(made: Text, text: str) -> None:
    assert made.text == text


# ------------------------------------------------------------------------------------------------------- several files
@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Two files of one name in different folders, a file of another, and one without kernels."""
    made = tmp_path / "package"
    for place, name in (("a/ops.py", "vector_add"), ("b/ops.py", "rows"), ("gathers.py", "gathers")):
        (made / place).parent.mkdir(parents=True, exist_ok=True)
        (made / place).write_text((CORPUS / f"{name}.py").read_text())
    (made / "host.py").write_text("import triton\n\nfast = triton.jit\n")
    return made


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_directory_is_lifted_as_its_files_are(package: Path, tmp_path: Path, jobs: str) -> None:
    done = run(str(package), "-o", str(tmp_path / "out"), "--jobs", jobs, "--report", "json")
    assert done.returncode == 0, done.stderr
    reports = {each["path"]: each for each in json.loads(done.stdout)["files"]}
    assert list(reports) == [str(package / name) for name in ("a/ops.py", "b/ops.py", "gathers.py")]
    for name in ("a/ops.py", "b/ops.py", "gathers.py"):
        alone = run(str(package / name), "-o", str(tmp_path / "alone.py"), "--report", "json")
        assert reports[str(package / name)] == json.loads(alone.stdout)
        assert (tmp_path / "out" / name).read_text() == (tmp_path / "alone.py").read_text()
    assert not (tmp_path / "out" / "host.py").exists()


def test_several_files_have_one_report_for_each_kernel(package: Path) -> None:
    done = run(str(package / "gathers.py"), str(package / "a" / "ops.py"), "--report", "text")
    assert done.returncode == 0 and not done.stdout
    first, second = done.stderr.index("partial_sum_kernel (line "), done.stderr.index("add_kernel (line ")
    assert done.stderr.index("gathers.py:") < first < done.stderr.index("ops.py:") < second


def test_the_exit_status_of_several_files(package: Path, tmp_path: Path) -> None:
    (package / "a" / "other.py").write_text(
        "import triton\n\n\n@triton.jit\ndef other(p):\n    while True:\n        p += 1\n"
    )
    everything = (str(package), "--jobs", "2", "--report", "text")
    assert run(*everything).returncode == 0
    assert run(*everything, "--strict").returncode == 1
    assert run(*everything, "--kernel", "other").returncode == 1
    assert run(str(package / "a" / "other.py"), str(package / "host.py"), "--report", "text").returncode == 1
    (package / "b" / "broken.py").write_text("import triton\n\n\n@triton.jit\ndef f(:\n")
    done = run(str(package), "-o", str(tmp_path / "out"))
    assert done.returncode == 1 and "INT001" in done.stderr and not (tmp_path / "out").exists()


def test_several_files_need_somewhere_to_go(package: Path, tmp_path: Path) -> None:
    assert run(str(package)).returncode == 2
    assert run(str(package), "--report", "text", "--against", "other.py").returncode == 2
    ours = (str(package / "a" / "ops.py"), str(package / "b" / "ops.py"))
    done = run(*ours, "-o", str(tmp_path / "out"))
    assert done.returncode == 2 and "would both be written to" in done.stderr
