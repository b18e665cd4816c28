"""The command line's conventions: streams, exit statuses, formats, and what each command imports."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, intentc, python

SOFTMAX = ROOT / "samples" / "softmax.py"

WRONG = """import intent
import intent.language as I


@intent.kernel
def shift(x: I.In[I.f32, ("N",)], n: I.i32, y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i] + n
"""


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.py"
    path.write_text(WRONG, encoding="utf-8")
    return path


# ------------------------------------------------------------------------------------------ help and codes
def test_version() -> None:
    outcome = intentc("--version")
    assert (outcome.status, outcome.errors) == (0, "")
    assert re.fullmatch(r"intentc \d+\.\d+\.\d+\n", outcome.output)


def test_help_lists_every_command_with_its_own_summary() -> None:
    listed = intentc("--help").output
    for command in re.findall(r"^  ([a-z]+)  ", listed.partition("Commands:")[2], re.MULTILINE):
        summary = re.search(rf"^  {command} +(.*)$", listed, re.MULTILINE)
        assert summary is not None
        assert summary.group(1).removesuffix("...") in " ".join(intentc(command, "--help").output.split())


@pytest.mark.parametrize("arguments", [(), ("compil",), ("compile",), ("compile", "x.py", "--arm", "left")])
def test_usage_errors(arguments: tuple[str, ...]) -> None:
    outcome = intentc(*arguments)
    outcome.assert_clean()
    assert outcome.status == 2


def test_explain_code() -> None:
    outcome = intentc("explain", "int401")
    assert outcome.status == 0
    assert outcome.output.startswith("INT401: shapes do not broadcast\n")
    assert "Wrong:" in outcome.output and "Right:" in outcome.output


def test_explain_unknown_code() -> None:
    outcome = intentc("explain", "INT999")
    assert (outcome.status, outcome.output) == (2, "")


def test_explain_lists_codes() -> None:
    assert len(intentc("explain").output.splitlines()) > 100


def test_doctor_finds_our_packages() -> None:
    outcome = intentc("doctor")
    assert outcome.status == 0
    assert re.search(rf"^ok +package intent +{re.escape(str(ROOT))}", outcome.output, re.MULTILINE)


def test_doctor_names_a_package_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "intent").mkdir()
    (tmp_path / "intent" / "__init__.py").touch()
    outcome = intentc("doctor", directory=tmp_path)  # `python -m` puts the directory first on the path
    assert outcome.status == 2
    assert re.search(rf"^wrong +package intent +{re.escape(str(tmp_path))}", outcome.output, re.MULTILINE)


def test_a_package_in_the_way_is_no_bug_of_ours(tmp_path: Path) -> None:
    (tmp_path / "intent").mkdir()
    (tmp_path / "intent" / "__init__.py").touch()
    outcome = intentc("compile", SOFTMAX, directory=tmp_path)
    outcome.assert_clean()
    # an editable installation finds the submodules whatever package stands in front of them
    question = [sys.executable, "-c", "import intent.dtypes"]
    shadowed = subprocess.run(question, cwd=tmp_path, capture_output=True, check=False).returncode != 0
    assert outcome.status == (2 if shadowed else 0)
    assert ("intentc doctor" in outcome.errors) is shadowed


# ------------------------------------------------------------------------------------------ diagnostics
def test_check_in_full(wrong: Path) -> None:
    outcome = intentc("check", "--no-plan", wrong)
    assert (outcome.status, outcome.output) == (1, "")
    assert f"--> {wrong}:8:" in outcome.errors
    assert "8 |         y[i] = x[i] + n" in outcome.errors
    assert "^" in outcome.errors
    assert outcome.errors.rstrip().endswith("1 error")


def test_check_concise(wrong: Path) -> None:
    outcome = intentc("check", "--no-plan", "--output-format", "concise", wrong)
    assert re.match(rf"{re.escape(str(wrong))}:8:\d+: error\[INT201\] ", outcome.errors)
    assert len(outcome.errors.splitlines()) == 1


def test_check_json(wrong: Path) -> None:
    outcome = intentc("check", "--no-plan", "--output-format", "json", wrong)
    assert (outcome.status, outcome.errors) == (1, "")
    (diagnostic,) = json.loads(outcome.output)
    assert (diagnostic["code"], diagnostic["severity"], diagnostic["span"]["line"]) == ("INT201", "error", 8)


def test_check_sarif(wrong: Path) -> None:
    outcome = intentc("check", "--no-plan", "--output-format", "sarif", wrong)
    assert json.loads(outcome.output)["runs"][0]["results"][0]["ruleId"] == "INT201"


def test_check_github(wrong: Path) -> None:
    outcome = intentc("check", "--no-plan", "--output-format", "github", wrong)
    assert outcome.errors.startswith("::error file=")


def test_check_reads_standard_input() -> None:
    outcome = intentc("check", "--no-plan", "-", "--stdin-filename", "editor.py", stdin=WRONG.encode())
    assert outcome.status == 1
    assert "--> editor.py:8:" in outcome.errors


def test_check_accepts_every_sample() -> None:
    outcome = intentc("check", "--no-plan", *sorted((ROOT / "samples").glob("*.py")))
    assert outcome.status == 0, outcome.errors
    assert outcome.output == ""


# ------------------------------------------------------------------------------------------ compiling
def test_compile_prints_the_module() -> None:
    outcome = intentc("compile", SOFTMAX)
    assert outcome.status == 0, outcome.errors
    assert outcome.errors == ""
    compile(outcome.output, "generated", "exec")
    assert "@triton.jit" in outcome.output


def test_compile_is_deterministic(tmp_path: Path) -> None:
    first, second = intentc("compile", SOFTMAX).output, intentc("compile", SOFTMAX, directory=tmp_path).output
    assert first == second
    assert str(ROOT) not in first


def test_compile_standard_input() -> None:
    outcome = intentc("compile", "-", stdin=SOFTMAX.read_bytes())
    assert outcome.status == 0
    assert "@triton.jit" in outcome.output


def test_compile_writes_files(tmp_path: Path) -> None:
    files = [SOFTMAX, ROOT / "samples" / "saxpy.py"]
    outcome = intentc("compile", *files, "-o", tmp_path / "out")
    assert (outcome.status, outcome.output) == (0, "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["saxpy.py", "softmax.py"]


def test_nothing_is_written_if_one_file_is_rejected(tmp_path: Path, wrong: Path) -> None:
    outcome = intentc("compile", SOFTMAX, wrong, "-o", tmp_path / "out")
    assert (outcome.status, outcome.output) == (1, "")
    assert not (tmp_path / "out").exists()


def test_a_rejected_file_leaves_its_output_alone(tmp_path: Path, wrong: Path) -> None:
    output = tmp_path / "out.py"
    output.write_text("precious", encoding="utf-8")
    assert intentc("compile", wrong, "-o", output).status == 1
    assert output.read_text(encoding="utf-8") == "precious"


def test_check_and_diff_write_nothing(tmp_path: Path) -> None:
    output = tmp_path / "out.py"
    assert intentc("compile", SOFTMAX, "-o", output, "--check").status == 1
    assert not output.exists()
    assert intentc("compile", SOFTMAX, "-o", output).status == 0
    assert intentc("compile", SOFTMAX, "-o", output, "--check").status == 0
    output.write_text(output.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    outcome = intentc("compile", SOFTMAX, "-o", output, "--check", "--diff")
    assert outcome.status == 1
    assert "-# edited" in outcome.output
    assert output.read_text(encoding="utf-8").endswith("# edited\n")


def test_compile_json() -> None:
    document = json.loads(intentc("compile", SOFTMAX, "--output-format", "json").output)
    assert "@triton.jit" in document["modules"][0]["source"]


def test_emit_listings() -> None:
    outcome = intentc("compile", SOFTMAX, "--emit", "logical,plan,notes")
    assert outcome.status == 0
    assert "kernel softmax" in outcome.output
    assert intentc("compile", SOFTMAX, "--emit", "assembly").status == 2


def test_device_arm_alone() -> None:
    outcome = intentc("compile", SOFTMAX, "--arm", "device")
    assert outcome.status == 0
    for word in ("asnumpy", ".get(", "np.asarray", ".cpu(", ".numpy(", "from_numpy"):
        assert word not in outcome.output


def test_explain_file() -> None:
    outcome = intentc("explain", SOFTMAX)
    assert outcome.status == 0
    assert "kernel softmax" in outcome.output
    assert "programs" in outcome.output


# ------------------------------------------------------------------------------------------ start-up
HEAVY = "('numpy', 'torch', 'triton', 'ml_dtypes', 'scipy', 'libcst', 'rich')"
PROBE = f"""
import sys
from intentc.__main__ import main
sys.argv = ["intentc", *{{arguments}}]
try:
    main()
except SystemExit as exit:
    assert not exit.code, exit.code
print("loaded:", [name for name in {HEAVY} if name in sys.modules])
"""


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--help"], ["compile", "--help"], ["explain", "INT401"], ["doctor"], ["check", str(SOFTMAX)]],
    ids=" ".join,
)
def test_light_commands_load_nothing_heavy(arguments: list[str]) -> None:
    assert python(PROBE.format(arguments=arguments)).splitlines()[-1] == "loaded: []"


def test_compile_loads_nothing_heavy(tmp_path: Path) -> None:
    arguments = ["compile", str(SOFTMAX), "-o", str(tmp_path / "out.py")]
    assert python(PROBE.format(arguments=arguments)).splitlines()[-1] == "loaded: []"
