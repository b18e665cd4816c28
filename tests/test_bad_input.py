"""Whatever is fed to the command line, it answers with a diagnostic or a module: no traceback, nothing half-written,
nothing of the input executed."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import ROOT, Outcome, intentc

HEADER = "import intent\nimport intent.language as I\n\n\n"


def kernel(
    body: str, parameters: str = 'x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]', name: str = "k"
) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"{HEADER}@intent.kernel\ndef {name}({parameters}):\n{lines}"


def compiled(text: str | bytes, tmp_path: Path, *options: str) -> Outcome:
    """Compile into a file, and see that the file exists exactly if that succeeded."""
    source, output = tmp_path / "input.py", tmp_path / "output.py"
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    outcome = intentc("compile", source, "-o", output, *options)
    outcome.assert_clean()
    assert output.exists() == (outcome.status == 0), outcome.errors
    assert sorted(tmp_path.iterdir()) == sorted([source, *([output] if outcome.status == 0 else [])])
    return outcome


REJECTED = {
    "syntax error": ("x = = 1\n", "INT001"),
    "unclosed bracket": (HEADER + "@intent.kernel\ndef k(\n", "INT001"),
    "null byte": ("x = 1\0\n", "INT001"),
    "empty": ("", "INT004"),
    "only comments": ("# nothing\n", "INT004"),
    "no kernel": ("x = 1\n", "INT004"),
    "latin-1": ("# größe\n".encode("latin-1"), "INT002"),
    "utf-16": ("x = 1\n".encode("utf-16"), "INT002"),
    "binary": (bytes(range(256)), "INT002"),
    "nested parentheses": (kernel("y[:, :] = " + "(" * 5000 + "x[:, :]" + ")" * 5000), "INT003"),
    "nested calls": (kernel("y[:, :] = " + "I.exp(" * 5000 + "x[:, :]" + ")" * 5000), "INT003"),
    "long chain": (kernel("y[:, :] = x[:, :]" + " + x[:, :]" * 5000), "INT003"),
    "nested minus": (kernel("y[:, :] = " + "-" * 5000 + "x[:, :]"), "INT003"),
    "unknown name": (kernel("y[:, :] = z[:, :]"), "INT101"),
    "unknown intrinsic": (kernel("y[:, :] = I.softplus(x[:, :])"), "INT102"),
    "library function": (kernel("y[:, :] = math.exp(x[:, :])"), "INT101"),
    "wrong keyword": (kernel("y[:, :] = I.reduce.sum(x[:, :], axis=1, keepdim=True)"), "INT120"),
    "mixed dtypes": (kernel("y[:, :] = x[:, :] + I.cast(1.0, I.f64)"), "INT201"),
    "foreign dtype": (kernel("y[:, :] = I.cast(x[:, :], I.float32)"), "INT"),
    "wrong rank": (kernel("y[:, :, :] = x[:, :]"), "INT501"),
    "wrong axis": (kernel("y[:, 0] = I.reduce.sum(x[:, :], axis=2)"), "INT407"),
    "domain as axis": (kernel("d = I.domain(0, x.shape[1])\ny[:, 0] = I.reduce.sum(x[:, d], axis=d)"), "INT302"),
    "extents": (kernel("y[:, :] = I.transpose(x[:, :])"), "INT"),
    "alignment": (kernel("y[:, :] = x[:, :] + I.reduce.sum(x[:, :], axis=1)"), "INT40"),
    "tensor condition": (kernel("if x[:, :] > 0.0:\n    y[0, 0] = 1.0"), "INT801"),
    "write to In": (kernel("x[0, 0] = 1.0"), "INT506"),
    "Out read first": (kernel("y[:, :] = y[:, :] + x[:, :]"), "INT508"),
    "parallel conflict": (kernel("for i in I.parallel(I.domain(0, x.shape[0])):\n    y[0, 0] = x[i, 0]"), "INT511"),
    "parallel carry": (
        kernel(
            "t = I.cast(0.0, I.f32)\nfor i in I.parallel(I.domain(0, x.shape[0])):\n    t = t + x[i, 0]\ny[0, 0] = t"
        ),
        "INT804",
    ),
    "value returned": (kernel("return x[:, :]"), "INT104"),
    "unannotated": (kernel("y[:, :] = x", parameters='x, y: I.Out[I.f32, ("M", "N")]'), "INT110"),
    "with statement": (kernel("with x:\n    pass"), "INT119"),
    "star parameters": (kernel("pass", parameters="*views"), "INT103"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str, tmp_path: Path) -> None:
    text, code = REJECTED[name]
    outcome = compiled(text, tmp_path)
    assert outcome.status == 1
    assert outcome.output == ""
    assert f"[{code}" in outcome.errors
    assert f"{tmp_path / 'input.py'}:" in outcome.errors


def test_several_errors_in_one_run(tmp_path: Path) -> None:
    outcome = compiled(kernel("y[0, 0] = a\ny[1, 0] = x[0, 0] + I.cast(1, I.i32)\ny[2, 0] = I.nothing(1)"), tmp_path)
    assert [code for code in ("INT101", "INT201", "INT102") if code not in outcome.errors] == []


def test_a_missing_constexpr_names_the_flag(tmp_path: Path) -> None:
    parameters = 'y: I.Out[I.f32, ("N",)], WIDTH: I.Constexpr[int]'
    text = kernel("y[:] = I.full(y.shape, 1.0 * WIDTH, I.f32)", parameters=parameters)
    outcome = compiled(text, tmp_path)
    assert "INT113" in outcome.errors
    assert "--constexpr k.WIDTH=" in outcome.errors


def test_an_unknown_constexpr(tmp_path: Path) -> None:
    outcome = compiled(kernel("y[:, :] = x[:, :]"), tmp_path, "--constexpr", "WIDHT=3")
    assert outcome.status == 1
    assert "WIDHT" in outcome.errors


def test_nothing_is_executed(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    text = f"open({str(trap / 'sprung')!r}, 'w').write('x')\n" + kernel("y[:, :] = x[:, :]")
    source = tmp_path / "input.py"
    source.write_text(text, encoding="utf-8")
    intentc("compile", source).assert_clean()
    assert list(trap.iterdir()) == []


# ------------------------------------------------------------------------------------------ files and directories
def test_missing_file() -> None:
    outcome = intentc("compile", "nowhere.py")
    outcome.assert_clean()
    assert outcome.status == 2
    assert "nowhere.py: no such file" in outcome.errors


def test_directory() -> None:
    outcome = intentc("compile", ROOT / "samples")
    assert outcome.status == 2
    assert "is a directory" in outcome.errors


def test_a_name_no_file_can_have() -> None:
    outcome = intentc("compile", "a" * 5000)
    outcome.assert_clean()
    assert outcome.status == 2


def test_unwritable_output(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    outcome = intentc("compile", ROOT / "samples" / "softmax.py", "-o", tmp_path / "file" / "out.py")
    outcome.assert_clean()
    assert outcome.status == 2
    assert "cannot write" in outcome.errors


def test_a_huge_file_is_refused_quickly(tmp_path: Path) -> None:
    outcome = compiled(b"#" * (9 * 2**20), tmp_path)
    assert outcome.status == 1
    assert "INT005" in outcome.errors


# ------------------------------------------------------------------------------------------ what is legal
def test_ten_thousand_lines(tmp_path: Path) -> None:
    text = kernel("y[:, :] = x[:, :] * 2.0") + "# a comment\n" * 10_000
    assert compiled(text, tmp_path).status == 0


def test_deep_nesting_of_statements_is_answered(tmp_path: Path) -> None:
    conditions = "\n".join(" " * level + f"if x[0, 0] > {level}.0:" for level in range(95))
    compiled(kernel(conditions + " y[0, 0] = 1.0"), tmp_path)


def test_ten_thousand_statements_are_answered(tmp_path: Path) -> None:
    compiled(kernel("v = x[:, :]\n" + "v = v + 1.0\n" * 10_000 + "y[:, :] = v"), tmp_path)


@pytest.mark.parametrize(
    "prefix", [b"\xef\xbb\xbf", b"# -*- coding: utf-8 -*-\n"], ids=["byte order mark", "coding line"]
)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
def test_text_forms(prefix: bytes, line_end: bytes, tmp_path: Path) -> None:
    text = prefix + kernel("y[:, :] = x[:, :] * 2.0").encode()
    assert compiled(text.replace(b"\n", line_end), tmp_path).status == 0


@pytest.mark.parametrize(
    "name", ["tl", "triton", "torch", "np", "grid", "type", "INDEX", "num_warps", "print", "match"]
)
def test_names_that_mean_something_to_triton(name: str, tmp_path: Path) -> None:
    parameters = f'{name}: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]'
    assert compiled(kernel(f"y[:, :] = {name}[:, :] * 2.0", parameters=parameters), tmp_path).status == 0


@pytest.mark.parametrize(
    "name", ["_launch", "_check", "main", "torch", "triton", "tl", "np", "_host_call", "print", "_Plan"]
)
def test_a_kernel_named_like_a_part_of_the_module(name: str, tmp_path: Path) -> None:
    outcome = compiled(kernel("y[:, :] = x[:, :] * 2.0", name=name), tmp_path)
    assert outcome.status == 0, outcome.errors
    compile((tmp_path / "output.py").read_text(encoding="utf-8"), "output.py", "exec")


def test_text_of_the_author_stays_text(tmp_path: Path) -> None:
    documented = kernel('"""Breaks out: \\\'\'\' \\"\\"\\" {x} \\N{BULLET} \\\\"""\ny[:, :] = x[:, :] * 2.0')
    assert compiled(documented, tmp_path).status == 0
    compile((tmp_path / "output.py").read_text(encoding="utf-8"), "output.py", "exec")
