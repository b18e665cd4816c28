"""Triton kernels imported by tests run in its CPU interpreter, which is chosen when triton is first imported.

What must be compiled ahead of time runs in a process of its own, without this variable.
"""

import os

import pytest

os.environ.setdefault("TRITON_INTERPRET", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden/ instead of comparing with it")
