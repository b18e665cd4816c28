"""`golden/` holds, byte for byte, what the compiler writes for `samples/`; `make golden` updates it."""

from __future__ import annotations

from pathlib import Path

import pytest
import update_golden

WANTED = update_golden.golden_files()
PRESENT = update_golden.present_files()


@pytest.mark.parametrize("path", sorted(WANTED.keys() | PRESENT.keys()), ids=str)
def test_golden_file_is_what_the_compiler_writes(path: Path) -> None:
    assert path in PRESENT, "missing: run `make golden`"
    assert path in WANTED, "left over: run `make golden`"
    assert PRESENT[path] == WANTED[path]
