"""The wheel and the source archive: the same bytes from the same files, and a wheel that works by itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import pytest
from command_line import ROOT, Outcome

from intentc import __version__
from intentc.environment import FOR_CLIENTS, FOR_RUNNING, NEEDED

FOLDERS = ("intent", "translators", "intentc", "docs")
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "CONTRIBUTING.md", "LICENSE")
BUILD = """
import os, sys
output, mask, *kinds = sys.argv[1:]
os.umask(int(mask, 8))
from setuptools import build_meta
for kind in kinds:
    getattr(build_meta, f"build_{kind}")(output)
"""
WHEEL = f"intentc-{__version__}-py3-none-any.whl"
ARCHIVE = f"intentc-{__version__}.tar.gz"


def _build(folder: Path, output: Path, mask: str, kinds: Sequence[str], **environment: str) -> Path:
    command = [sys.executable, "-c", BUILD, str(output), mask, *kinds]
    inherited = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(command, cwd=folder, env={**inherited, **environment}, capture_output=True, check=True)
    return output


def _copy(folder: Path) -> Path:
    """The files of the checkout that are built from."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copyfile(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive, built from a copy of the checkout."""
    folder = _copy(tmp_path_factory.mktemp("checkout"))
    return _build(folder, tmp_path_factory.mktemp("built"), "022", ("sdist", "wheel"))


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(built / WHEEL)


def test_what_is_built_again_elsewhere_has_the_same_bytes(built: Path, tmp_path: Path) -> None:
    """At another time, in another zone, by someone whose files are private."""
    folder = _copy(tmp_path)
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.utime(path, (1_000_000_000, 1_000_000_000))
    again = _build(folder, tmp_path / "again", "077", ("wheel", "sdist"), TZ="Asia/Kathmandu", PYTHONHASHSEED="7")
    for name in (WHEEL, ARCHIVE):
        assert (again / name).read_bytes() == (built / name).read_bytes(), name


def test_the_source_archive_builds_to_the_same_wheel(built: Path, tmp_path: Path) -> None:
    with tarfile.open(built / ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    again = _build(tmp_path / f"intentc-{__version__}", tmp_path / "again", "022", ("wheel",))
    assert (again / WHEEL).read_bytes() == (built / WHEEL).read_bytes()


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    own = f"intentc-{__version__}.dist-info/"
    assert {name.split("/")[0] for name in names} == {"intent", "translators", "intentc", own.rstrip("/")}
    sources = {path.relative_to(ROOT).as_posix() for folder in FOLDERS[:3] for path in (ROOT / folder).rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == sources
    assert {f"{package}/py.typed" for package in FOLDERS[:3]} <= names
    pages = {f"intentc/pages/{path.relative_to(ROOT / 'docs').as_posix()}" for path in (ROOT / "docs").rglob("*.md")}
    assert {name for name in names if name.startswith("intentc/pages/")} == pages
    assert wheel.read(f"{own}licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert wheel.read(f"{own}entry_points.txt").decode() == "[console_scripts]\nintentc = intentc.__main__:main\n"


def test_metadata(wheel: zipfile.ZipFile) -> None:
    text = wheel.read(f"intentc-{__version__}.dist-info/METADATA").decode().partition("\n\n")[0]
    assert f"\nVersion: {__version__}\n" in text and "\nLicense-Expression: Apache-2.0\n" in text
    assert set(re.findall(r"^Provides-Extra: (\w+)$", text, re.MULTILINE)) >= {"gpu", "lsp", "mcp", "dev", "test"}
    required = [line for line in re.findall(r"^Requires-Dist: (.*)$", text, re.MULTILINE) if "extra" not in line]
    always = {re.split(r"[><=; ]", line)[0] for line in required} - {"tomli"}
    assert always == set(NEEDED)


def test_doctor_means_the_versions_that_are_declared() -> None:
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name, meant in {**NEEDED, **FOR_RUNNING, **FOR_CLIENTS}.items():
        assert f'"{name}>={meant.first}' in declared, name
        if meant.before:
            assert f'"{name}>={meant.first},<{meant.before}' in declared, name


# ------------------------------------------------------------------------------------------------- as a new user has it
def _closure(names: Sequence[str]) -> dict[str, metadata.Distribution]:
    """Installed distributions and what they require, without extras."""
    found: dict[str, metadata.Distribution] = {}
    pending = list(names)
    while pending:
        name = pending.pop().lower().replace("_", "-")
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for another system or version of Python
        required = [line for line in found[name].requires or () if "extra" not in line.partition(";")[2]]
        pending += [re.split(r"[^\w.-]", line)[0] for line in required]
    return found


@pytest.fixture(scope="module")
def site(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `pip install` of the wheel makes in an empty environment, with links to what it requires."""
    folder = tmp_path_factory.mktemp("site")
    wheel.extractall(folder)
    for distribution in _closure(list(NEEDED)).values():
        for first in {file.parts[0] for file in distribution.files or ()}:
            target = Path(str(distribution.locate_file(first)))
            if first not in ("..", "__pycache__") and not (folder / first).exists():
                (folder / first).symlink_to(target)
    return folder


class Environment:
    """Runs the command line as it is installed in a folder, and nothing else."""

    def __init__(self, path: Sequence[Path], directory: Path) -> None:
        self.path, self.directory = path, directory

    def __call__(self, *arguments: str | Path) -> Outcome:
        environment = {"PYTHONPATH": os.pathsep.join(map(str, self.path)), "PATH": os.environ["PATH"], "COLUMNS": "100"}
        command = [sys.executable, "-S", "-m", "intentc", *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, cwd=self.directory, env=environment, check=False)
        outcome = Outcome(result.returncode, result.stdout.decode(), result.stderr.decode())
        outcome.assert_clean()
        return outcome

    def findings(self) -> tuple[int, dict[str, dict[str, str]]]:
        outcome = self("doctor", "--output-format", "json")
        return outcome.status, {each["subject"]: each for each in json.loads(outcome.output)}


def test_the_wheel_alone_does_what_needs_no_extra(site: Path, tmp_path: Path) -> None:
    run = Environment([site], tmp_path)
    sample = tmp_path / "softmax.py"
    shutil.copyfile(ROOT / "samples" / "softmax.py", sample)
    assert run("--version").output == f"intentc {__version__}\n"
    assert run("check", sample).status == 0
    assert run("compile", sample, "-o", "out.py").status == 0
    assert run("lift", "out.py", "-o", "lifted.py").status == 0
    assert "same" in run("compare", sample, "lifted.py").output
    assert "I.gather(" in run("read", "language/memory#gathers").output
    assert "intentc api I.reduce.sum" in run("search", "sum").output
    assert run("explain", "INT401").status == 0 and run("api", "exp").status == 0
    for command, extra in ((("run", sample, "--cpu"), "gpu"), (("mcp",), "mcp"), (("lsp",), "lsp")):
        outcome = run(*command)
        assert outcome.status == 2 and f"pip install 'intentc[{extra}]'" in outcome.errors
    status, found = run.findings()
    assert status == 0
    assert {subject for subject, each in found.items() if each["state"] == "missing"} >= {*FOR_RUNNING, *FOR_CLIENTS}
    assert all(each["mend"] for each in found.values() if each["state"] != "ok")


def _pretend(folder: Path, name: str, version: str, top_level: str | None = None) -> None:
    """What a package manager leaves of a distribution."""
    described = folder / f"{name}-{version}.dist-info"
    described.mkdir(parents=True)
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (described / "METADATA").write_text(text, encoding="utf-8")
    if top_level is not None:
        (described / "RECORD").write_text(f"{top_level}/__init__.py,,\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("installed", "subject", "text", "mend"),
    [
        ({"numpy": "2.4.1", "triton": "3.6.0"}, "triton and numpy", "fails in loops with NumPy 2.4.1", "numpy<2.4"),
        ({"triton": "3.4.0"}, "triton", "3.4.0 is too old", "triton>=3.5.1,<3.10"),
        ({"triton": "3.10.0"}, "triton", "3.10.0 is too new", "triton>=3.5.1,<3.10"),
        ({"numpy": "1.21.6"}, "numpy", "1.21.6 is too old", "numpy>=1.26"),
        ({"mcp": "1.12.4"}, "mcp", "1.12.4 is too old", "mcp>=2,<3"),
        ({"typer": "0.9.0"}, "typer", "0.9.0 is too old", "typer>=0.19"),
        ({"libcst": "1.4.0"}, "libcst", "1.4.0 is too old", "libcst>=1.5"),
    ],
)
def test_doctor_finds_versions_that_do_not_work(
    site: Path, tmp_path: Path, installed: dict[str, str], subject: str, text: str, mend: str
) -> None:
    for name, version in installed.items():
        _pretend(tmp_path / "faulty", name, version)
    status, found = Environment([tmp_path / "faulty", site], tmp_path).findings()
    assert status == 2
    assert [each for each in found.values() if each["state"] == "wrong"] == [found[subject]]
    assert text in found[subject]["text"] and mend in found[subject]["mend"]


@pytest.mark.parametrize("installed", [{"numpy": "2.4.1", "triton": "3.7.1"}, {"numpy": "2.3.5", "triton": "3.6.0"}])
def test_versions_that_work_are_not_complained_of(site: Path, tmp_path: Path, installed: dict[str, str]) -> None:
    for name, version in installed.items():
        _pretend(tmp_path / "fine", name, version)
    status, found = Environment([tmp_path / "fine", site], tmp_path).findings()
    assert status == 0 and found["numpy"]["state"] == found["triton"]["state"] == "ok"


def test_doctor_names_a_package_that_comes_first(site: Path, tmp_path: Path) -> None:
    """Though the language itself cannot be imported then."""
    (tmp_path / "other" / "intent").mkdir(parents=True)
    (tmp_path / "other" / "intent" / "__init__.py").touch()
    _pretend(tmp_path / "other", "intent", "0.3", "intent")
    run = Environment([tmp_path / "other", site], tmp_path)
    status, found = run.findings()
    assert status == 2 and found["package intent"]["state"] == "wrong"
    assert str(tmp_path / "other" / "intent") in found["package intent"]["text"]
    assert "pip uninstall intent" in found["package intent"]["mend"]
    assert run("--help").status == run("--version").status == 0
    outcome = run("check", "x.py")
    assert outcome.status == 2 and "intentc doctor" in outcome.errors


def test_doctor_names_a_folder_in_the_way(site: Path, tmp_path: Path) -> None:
    (tmp_path / "translators").mkdir()
    (tmp_path / "translators" / "__init__.py").touch()
    status, found = Environment([site], tmp_path).findings()
    assert status == 2 and "work in another folder" in found["package translators"]["mend"]


def test_doctor_names_a_package_that_overwrote_ours(site: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shutil.copytree(site, shared, symlinks=True)
    _pretend(shared, "intent", "0.3", "intent")
    status, found = Environment([shared], tmp_path).findings()
    assert status == 2 and "pip uninstall intent; pip install" in found["package intent"]["mend"]


def test_doctor_names_what_the_command_line_lacks(site: Path, tmp_path: Path) -> None:
    lacking = tmp_path / "lacking"
    lacking.mkdir()
    for path in site.iterdir():
        if not path.name.startswith("libcst"):
            (lacking / path.name).symlink_to(path)
    run = Environment([lacking], tmp_path)
    outcome = run("doctor")
    assert outcome.status == 2 and re.search(r"^wrong +libcst +not installed", outcome.output, re.MULTILINE)
    assert "-> pip install 'libcst>=1.5'" in outcome.output


# -------------------------------------------------------------------------------------------------------- contributing
def test_the_commands_of_contributors_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    commands = [line.partition("#")[0].strip() for line in block.splitlines()]
    assert len(commands) == 5
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in commands:
        for target in command.split()[1:] if command.startswith("make ") else ():
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
        for path in re.findall(r"tests/\S+", command):
            assert (ROOT / path).exists()
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (ROOT / link).exists(), link
