"""The public packages whose kernels are lifted: pinned, and installed into build/ when the corpus is run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from intent.records import dataclass

SITE: Final = Path(__file__).resolve().parents[2] / "build" / "corpus" / "site"


@dataclass(frozen=True, slots=True)
class Package:
    """A distribution and its version; `left_out` are folders of copies for other vendors' devices."""

    name: str
    version: str
    left_out: tuple[str, ...] = ()

    @property
    def directory(self) -> Path:
        return SITE / f"{self.name}-{self.version}"

    def install(self) -> None:
        """Into its own folder, without what it depends on."""
        if self.directory.is_dir():
            return
        target = ["--target", str(self.directory), f"{self.name}=={self.version}"]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *target]
        subprocess.run(command, check=True)

    def files(self) -> Iterator[Path]:
        """Files that mention Triton's compiler."""
        for path in sorted(self.directory.rglob("*.py")):
            inside = path.relative_to(self.directory).as_posix()
            if not any(inside.startswith(each) for each in self.left_out):
                text = path.read_text(encoding="utf-8", errors="replace")
                if "triton" in text and (".jit" in text or "pointwise_dynamic" in text):
                    yield path


PACKAGES: Final = (
    Package("liger-kernel", "0.8.5", ("liger_kernel/ops/backends/", "liger_kernel/ops/cutile/")),
    Package("flag-gems", "5.0.2", ("flag_gems/runtime/backend/",)),
    Package("fla-core", "0.6.0"),
    Package("conch-triton-kernels", "1.3"),
    Package("sageattention", "1.0.6"),
    Package("moe-ops", "0.1.0"),
)
