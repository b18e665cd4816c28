"""The examples of docs/host-api.md, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "host-api.md"


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The first is the kernel file; the others are one host program."""
    file, *host = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "sums.py").write_text(file, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    names: dict[str, object] = {}
    for number, block in enumerate(host):
        exec(compile(block, f"example {number}", "exec"), names)
    assert names["state"].tolist() == [0.125] * 10  # type: ignore[attr-defined]
    total = names["full_sum"](names["x"])  # type: ignore[operator]
    assert float(total) == pytest.approx(float(names["x"].sum()))  # type: ignore[attr-defined]
    assert capsys.readouterr().out.startswith("group_sums(x: In[f32, (N)], partial: Out[f32, (G)])\nkernel group_sums(")
