"""`golden/` holds, byte for byte, what the compiler writes for `samples/`; `make golden` rewrites it."""

from __future__ import annotations

from pathlib import Path

import golden_files
import pytest

WANTED = golden_files.golden_files()
PRESENT = golden_files.present_files()


@pytest.mark.parametrize("path", sorted(WANTED.keys() | PRESENT.keys()), ids=str)
def test_golden_file_is_what_the_compiler_writes(path: Path) -> None:
    assert path in PRESENT, "missing: run `make golden`"
    assert path in WANTED, "left over: run `make golden`"
    assert PRESENT[path] == WANTED[path]
