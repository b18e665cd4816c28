"""Where outputs go, and that a file is replaced whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from intentc.failure import UsageError
from intentc.inputs import Input
from intentc.outputs import Output, destinations, difference, write_all
from intentc.settings import parse_constexprs, parse_targets, read_configuration


def test_one_input_to_a_file_or_into_a_directory(tmp_path: Path) -> None:
    inputs = [Input("kernels/softmax.py", "")]
    assert destinations(inputs, None) == [None]
    assert destinations(inputs, "-") == [None]
    assert destinations(inputs, str(tmp_path / "out.py")) == [tmp_path / "out.py"]
    assert destinations(inputs, str(tmp_path)) == [tmp_path / "softmax.py"]
    assert destinations(inputs, str(tmp_path / "new") + os.sep) == [tmp_path / "new" / "softmax.py"]


def test_several_inputs_need_a_directory(tmp_path: Path) -> None:
    inputs = [Input("a.py", ""), Input("b.py", "")]
    assert destinations(inputs, str(tmp_path)) == [tmp_path / "a.py", tmp_path / "b.py"]
    with pytest.raises(UsageError, match="-o DIRECTORY"):
        destinations(inputs, None)


def test_two_inputs_never_share_an_output(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"x/a\.py and y/a\.py would both"):
        destinations([Input("x/a.py", ""), Input("y/a.py", "")], str(tmp_path))


def test_an_input_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.touch()
    with pytest.raises(UsageError, match="overwrite an input"):
        destinations([Input(str(path), "")], str(tmp_path))


def test_writing_keeps_permissions_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "out.py"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    write_all([Output(path, "new\n")])
    assert path.read_text(encoding="utf-8") == "new\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_an_unchanged_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "out.py"
    path.write_text("same", encoding="utf-8")
    os.utime(path, (1, 1))
    write_all([Output(path, "same")])
    assert path.stat().st_mtime == 1


def test_a_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "real.py", tmp_path / "link.py"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    write_all([Output(link, "new")])
    assert link.is_symlink() and target.read_text(encoding="utf-8") == "new"


def test_a_device_is_written_to() -> None:
    write_all([Output(Path(os.devnull), "text")])
    assert not Path(os.devnull).is_file()


def test_unwritable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write"):
        write_all([Output(tmp_path / "file" / "out.py", "text")])


def test_difference(tmp_path: Path) -> None:
    path = tmp_path / "out.py"
    path.write_text("a\nb\n", encoding="utf-8")
    assert difference(Output(path, "a\nb\n")) == ""
    assert "-b\n+c\n" in difference(Output(path, "a\nc\n"))


# ------------------------------------------------------------------------------------------------------------- options
def test_constexprs() -> None:
    bound = parse_constexprs(["N=64", "k.MASK=0xff", "EPS=1e-5", "ON=true", "MODE=CAUSAL", "NEGATIVE=-3"])
    assert bound == {"N": 64, "k.MASK": 255, "EPS": 1e-5, "ON": True, "MODE": "CAUSAL", "NEGATIVE": -3}


@pytest.mark.parametrize("argument", ["N", "=3", "a.b.c=1", "1N=2", "a.=2"])
def test_malformed_constexprs(argument: str) -> None:
    with pytest.raises(UsageError, match="NAME=VALUE"):
        parse_constexprs([argument])


def test_a_constexpr_is_given_once() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse_constexprs(["N=1", "N=2"])


def test_targets() -> None:
    assert parse_targets("hip:gfx942, cuda:90,cuda:90") == ("hip:gfx942", "cuda:90")
    with pytest.raises(UsageError, match="unknown target 'cuda:70'"):
        parse_targets("cuda:70")
    with pytest.raises(UsageError, match="no target"):
        parse_targets(",")


def test_configuration_is_the_nearest(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.intentc]\narm = "device"\n', encoding="utf-8")
    assert read_configuration(inner) == {"arm": "device"}
    (inner / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    assert read_configuration(inner) == {}


@pytest.mark.parametrize("text", ["[tool.intentc]\nspeed = 3\n", "[tool.intentc\n"])
def test_unsuitable_configuration(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"pyproject\.toml"):
        read_configuration(tmp_path)
