"""Every command that a page shows, and how the tests run it.

A command is a line of a block (of `sh`, or an indented one) or words in the text that begin with a program. It is run
as it stands where that takes seconds and neither a GPU nor the network; with the option that makes it small where it
has one; else in its dry form, which only says what would be done, and then a page that shows it in a block says what it
needs. Blocks of `console` are not looked at: the tests of the guides run them and compare what they print.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from intent.records import dataclass

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "samples/README.md", "samples/npbench/README.md")),
    ROOT / "benchmarks" / "results" / "kernels.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
_BLOCK = re.compile(r"^(```+|~~~+)(\S*).*?\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_PROGRAM = r"(?:\.venv/bin/)?(?:intentc|make|python3?|pip|pipx|source)"
_LINE = re.compile(rf"^ {{4}}({_PROGRAM} .+)$", re.MULTILINE)
_WORDS = re.compile(rf"`({_PROGRAM}\s[^`]+)`")

KERNELS, TRITON = "samples/softmax.py", "golden/softmax/module.py"

# What stands for something of the user's own.
MEANT = {
    "FILE": KERNELS, "FILE...": KERNELS, "FILE[:KERNEL]": KERNELS, "rows.py": KERNELS, "kernels.py": KERNELS,
    "TRITON_FILE...": TRITON, "A": KERNELS, "B": KERNELS, "A[:KERNEL]": KERNELS, "B[:KERNEL]": f"{KERNELS}:softmax",
    "[CODE|FILE]": "INT401", "COMMAND": "compile", "NAME": "I.exp", "WORD...": "gather", "WORDS": "prefix sum",
    "PAGE": "language/memory", "[ID[#SECTION]]": "language/memory#gathers", "OUT": "shown", "OUT.html": "shown.html",
    "weights.bin": "build/weights.bin", "kernel.py": "build/kernel.py",
}  # fmt: skip
# The files of `lift` are Triton's.
LIFTED = {
    "FILE": TRITON, "FILE...": TRITON, "kernels.py": TRITON, "B[:KERNEL]": TRITON, "kernels/": "tests/handwritten",
}  # fmt: skip
# Files that a command speaks of.
FILES = {
    "build/weights.bin": " " * (4 << 20),
    "build/kernel.py": """# ruff: noqa: F821
import intent
import intent.language as I


@intent.kernel
def ramp(WIDTH: I.Constexpr[int], y: I.Out[I.index, ("WIDTH",)]):
    columns = I.domain(0, WIDTH)
    y[columns] = I.indices(columns)
""",
}
REJECTED = ("intentc compile weights.bin", "intentc compile kernel.py # def")  # shown because they are wrong

# Options that make a command small, or let it run on a CPU.
SMALL = {
    "intentc run": "--cpu",
    "intentc verify": "--cpu",
    "python -m benchmarks.run": "--small --quick --peers generated --only cumsum,rope",
    "python -m benchmarks.first_call": "--small --only cumsum",
    "python -m benchmarks.guard": "--only cumsum",
    "python -m benchmarks.host_calls": "--only 4096",
    "python -m benchmarks.npbench": "--workers 1 --only atax",
    "python benchmarks/table.py": "--no-aot --only saxpy",
    "python -m tests.round_trips": "saxpy",
}
# Whose figures mean nothing under Triton's interpreter, in which they are tried.
TRIED = (
    "python -m benchmarks.call_overhead",
    "python -m benchmarks.host_calls",
    "python -m benchmarks.npbench",
    "python softmax.py",
)

# What a test does not have. These are run in their dry form: they print what they would do, or what they take.
NEEDED = {
    "intentc bench": "GPU",
    "python -m tests.conformance --gpu": "GPU",
    "python -m tests.lift.mutation.measure": "hour",
    "make bench-device": "GPU",
    "make bench-host": "GPU",
    "make bench-npbench": "GPU",
    "make": "network",  # the first of them installs what the tests use
    "pip install": "network",
    "pipx run": "network",
}
MADE = ("make demo", "make lint types")  # with the environment that the tests are run in
SAID = {"GPU": "GPU", "network": "network|网络", "hour": ""}


@dataclass(frozen=True, slots=True)
class Shown:
    text: str
    page: Path
    in_block: bool

    @property
    def words(self) -> list[str]:
        bare = self.text.replace("[ID[#", "[ID[\\#")  # no comment
        return shlex.split(bare, comments=True)

    @property
    def needs(self) -> str:
        """What it cannot have in a test; nothing where it is run."""
        start = None if self.begins(MADE) else self.begins(NEEDED)
        return NEEDED[start] if start else ""

    def begins(self, starts: Iterable[str]) -> str | None:
        """The longest of them that the command begins with."""
        command = " ".join(self.text.removeprefix(".venv/bin/").split()) + " "
        return max((start for start in starts if command.startswith(f"{start} ")), key=len, default=None)


def shown(path: Path) -> Iterator[Shown]:
    text = path.read_text(encoding="utf-8")
    for _, kind, block in _BLOCK.findall(text):
        if kind == "sh":
            yield from (Shown(line, path, True) for line in block.splitlines() if line.strip())
    prose = _BLOCK.sub("", text)
    yield from (Shown(line.strip(), path, True) for line in _LINE.findall(prose))
    for words in dict.fromkeys(_WORDS.findall(_LINE.sub("", prose))):
        yield Shown(" ".join(words.split()), path, False)


def words_run(command: Shown) -> list[str]:
    """What a test runs instead: placeholders filled in, made small or dry."""
    words = command.words
    if words[0] == "make":
        return words if command.begins(MADE) else ["make", "-n", *words[1:]]
    if words[0] in ("pip", "pipx"):
        wanted = words[words.index("--spec") + 1] if "--spec" in words else words[2]
        flags = ["--dry-run", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
        return ["python", "-m", "pip", "install", *flags, wanted]
    if words[0] == "source":
        return ["bash", "-c", f"{command.text} && command -v python"]
    if words[1:3] == ["-m", "venv"]:
        return [*words, "--without-pip"]
    if words[0].endswith("intentc"):
        if len(words) == 2 and words[1] not in ("doctor", "mcp", "lsp"):
            return [*words, "--help"]  # the command's name
        meant = {**MEANT, **LIFTED} if words[1] == "lift" else MEANT
        words = [meant.get(word, word) for word in words]
        words += ["shown.html"] if words[-1] == "--html" else []
    if command.needs:
        return [*words, "--help"]
    small = command.begins(SMALL)
    more = SMALL[small].split() if small else []
    return words if set(more) <= set(words) else [*words, *more]
