"""The README's example: its kernel, and the device function it becomes. `python -m tests.readme_example` updates it."""

from __future__ import annotations

import re
from pathlib import Path

from translators.pipeline import compile_text

README = Path(__file__).parent.parent / "README.md"
HEADER = "import intent\nimport intent.language as I\n\n\n"
BLOCK = re.compile(r"(?<=```python\n).*?(?=```)", re.DOTALL)


def kernel() -> str:
    """The first block of the README: an Intent kernel."""
    return BLOCK.findall(README.read_text(encoding="utf-8"))[0]


def device_function() -> str:
    """The first device function that is a form of the kernel."""
    source = compile_text(HEADER + kernel(), "softmax.py").source
    assert source is not None
    found = re.search(r"^@triton\.jit[^\n]*\ndef softmax_.*?(?=\n\n\n)", source, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found.group() + "\n"


def updated() -> str:
    """The README with the second block as the compiler writes it now."""
    text = README.read_text(encoding="utf-8")
    _, second = list(BLOCK.finditer(text))[:2]
    return text[: second.start()] + device_function() + text[second.end() :]


if __name__ == "__main__":
    README.write_text(updated(), encoding="utf-8")
