"""What editors and hooks are configured with: it does what docs/editors.md says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from command_line import ROOT, Outcome, intentc

from intentc.__main__ import COMMANDS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
HOOKS = {each["id"]: each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
WRONG = """\
import intent
import intent.language as I


@intent.kernel
def shift(x: I.In[I.f32, ("N",)], n: I.i32, y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i] + n
"""


def _block(kind: str) -> str:
    (text,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return str(text)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.py"
    path.write_text(WRONG, encoding="utf-8")
    return path


def _hook(identity: str, *arguments: str | Path, directory: Path) -> Outcome:
    command, *options = shlex.split(HOOKS[identity]["entry"])
    assert command == "intentc" and HOOKS[identity]["language"] == "python"
    return intentc(*options, *arguments, directory=directory)


def test_configurations_start_the_language_server() -> None:
    server = tomllib.loads(_block("toml"))["language-server"]["intentc"]
    assert [server["command"], *server["args"]] == ["intentc", "lsp"]
    assert re.search(r'cmd = \{ "intentc", "lsp" \}', _block("lua"))
    assert "lsp" in COMMANDS


def test_the_problem_matcher_reads_what_the_task_prints(wrong: Path) -> None:
    (task,) = json.loads((ROOT / "editors" / "vscode" / "tasks.json").read_text(encoding="utf-8"))["tasks"]
    matcher = task["problemMatcher"]["pattern"]
    arguments = [str(wrong) if each == "${file}" else each for each in task["args"]]
    printed = intentc(*arguments).errors.splitlines()
    found = [re.match(matcher["regexp"], line) for line in printed]
    assert len(found) == 1 and found[0] is not None
    parts = {name: found[0][place] for name, place in matcher.items() if isinstance(place, int)}
    assert parts.pop("message") and int(parts.pop("column")) > 0
    assert parts == {"file": str(wrong), "line": "8", "severity": "error", "code": "INT201"}


def test_hooks_are_those_of_the_page() -> None:
    (repository,) = yaml.safe_load(_block("yaml"))["repos"]
    assert {each["id"] for each in repository["hooks"]} == set(HOOKS)


def test_the_hook_that_checks(wrong: Path, tmp_path: Path) -> None:
    right = ROOT / "samples" / "softmax.py"
    assert _hook("intentc-check", right, directory=tmp_path).status == 0
    outcome = _hook("intentc-check", right, wrong, directory=tmp_path)
    assert outcome.status == 1 and f"{wrong}:8:" in outcome.errors


def test_the_hook_that_compares(tmp_path: Path) -> None:
    (repository,) = yaml.safe_load(_block("yaml"))["repos"]
    (arguments,) = [each["args"] for each in repository["hooks"] if each["id"] == "intentc-drift"]
    shutil.copyfile(ROOT / "samples" / "softmax.py", tmp_path / "softmax.py")
    assert _hook("intentc-drift", *arguments, "softmax.py", directory=tmp_path).status == 1
    assert intentc("compile", *arguments, "softmax.py", directory=tmp_path).status == 0
    assert _hook("intentc-drift", *arguments, "softmax.py", directory=tmp_path).status == 0
