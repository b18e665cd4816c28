"""The public packages whose kernels are lifted: pinned, and installed into build/ when the corpus is run."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from intent.records import dataclass

ROOT: Final = Path(__file__).resolve().parents[2]
SITE: Final = ROOT / "build" / "corpus" / "site"


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


def pack(archive: Path) -> None:
    """All sources in one archive; nothing else of the packages is needed."""
    with tarfile.open(archive, "w:xz") as made:
        for package in PACKAGES:
            for path in sorted(package.directory.rglob("*.py")):
                made.add(path, path.relative_to(SITE))


def unpack(archive: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(SITE, filter="data")


def translator_version(*also: Path) -> str:
    """Of every file that a lift depends on, and of these."""
    made = hashlib.sha256()
    own = [path for folder in ("intent", "translators", "intentc") for path in sorted((ROOT / folder).rglob("*.py"))]
    for path in (*own, *also):
        made.update(path.read_bytes())
    return made.hexdigest()[:16]
