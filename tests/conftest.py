"""Triton kernels imported by tests run in its CPU interpreter, which is chosen when triton is first imported.

What must be compiled ahead of time runs in a process of its own, without this variable. Tests with the mark `gpu` run
on a GPU where TRITON_INTERPRET is 0.
"""

import os

os.environ.setdefault("TRITON_INTERPRET", "1")

import pytest
from hypothesis import settings

# A shared machine may stop for longer than any example takes; time limits belong to the tests that measure time.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ["TRITON_INTERPRET"] == "1":
        return
    import torch

    if not torch.cuda.is_available():
        for item in items:
            item.add_marker(pytest.mark.skip(reason="there is no GPU"))
