"""Rewrites `golden/`, from `samples/` and programs with faults, and the page of round trips: `make golden`.

With `--check` it writes nothing and exits with 1 if it would.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import faulty_programs
import golden_files
import round_trips


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if anything would change")
    check: bool = parser.parse_args().check
    wanted, present = golden_files.golden_files(), golden_files.present_files()
    changed = sorted(path for path in wanted.keys() | present.keys() if wanted.get(path) != present.get(path))
    for path in changed:
        print(f"{'would change' if check else 'changed'}: golden/{path}")
        if not check:
            golden_files.put(path, wanted.get(path))
    printed = faulty_programs.page()
    if printed != faulty_programs.PAGE.read_text(encoding="utf-8"):
        changed.append(faulty_programs.PAGE.relative_to(golden_files.GOLDEN))
        print(f"{'would change' if check else 'changed'}: golden/{changed[-1]}")
    if not check:
        faulty_programs.PAGE.write_text(printed, encoding="utf-8")
        modules = [path for path in changed if path.name == "module.py" and len(path.parts) == 2]
        for stem in sorted(path.parts[0] for path in modules):
            before, after = (files.get(Path(stem, "module.py"), "") for files in (present, wanted))
            if round_trips.read_by_lifting(before) != round_trips.read_by_lifting(after):
                round_trips.examine(stem)
        round_trips.PAGE.write_text(round_trips.page(), encoding="utf-8")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
