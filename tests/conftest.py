"""Triton kernels imported by tests run in its CPU interpreter, which is chosen when triton is first imported.

What must be compiled ahead of time runs in a process of its own, without this variable.
"""

import os

os.environ.setdefault("TRITON_INTERPRET", "1")
