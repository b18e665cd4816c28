"""The public packages whose kernels are lifted: pinned, and installed into build/ when the corpus is run."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from intent.records import dataclass

ROOT: Final = Path(__file__).resolve().parents[2]
SITE: Final = ROOT / "build" / "corpus" / "site"


@dataclass(frozen=True, slots=True)
class Package:
    """A distribution and its version; `left_out` are parts of the paths of copies for other vendors' devices.

    One that is `on_request` is big, and lifted only when it is named.
    """

    name: str
    version: str
    left_out: tuple[str, ...] = ()
    on_request: bool = False

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}"

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
        return (path for path in self._files() if not self._is_left_out(path))

    def files_left_out(self) -> Iterator[Path]:
        """Those of them that are for other vendors' devices."""
        return filter(self._is_left_out, self._files())

    def _files(self) -> Iterator[Path]:
        for path in sorted(self.directory.rglob("*.py")):
            text = path.read_text(encoding="utf-8", errors="replace")
            if "triton" in text and (".jit" in text or "pointwise_dynamic" in text):
                yield path

    def _is_left_out(self, path: Path) -> bool:
        inside = path.relative_to(self.directory).as_posix()
        return any(each in inside for each in self.left_out)


@dataclass(frozen=True, slots=True)
class Repository(Package):
    """One folder of a repository at a commit, which is its version; nothing else of it is kept."""

    address: str = ""
    folder: str = ""

    @property
    def label(self) -> str:
        return f"{self.name} {self.version[:7]}"

    def install(self) -> None:
        if self.directory.is_dir():
            return
        with tempfile.TemporaryDirectory() as scratch:
            git = ["git", "-C", scratch]
            subprocess.run([*git, "init", "--quiet"], check=True)
            subprocess.run([*git, "fetch", "--quiet", "--depth", "1", self.address, self.version], check=True)
            archive = subprocess.run([*git, "archive", "FETCH_HEAD", self.folder], check=True, capture_output=True)
            with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as packed:
                packed.extractall(scratch, filter="data")
            shutil.copytree(Path(scratch) / self.folder, self.directory)


PACKAGES: Final = (
    Package("liger-kernel", "0.8.5", ("liger_kernel/ops/backends/", "liger_kernel/ops/cutile/")),
    Package("flag-gems", "5.0.2", ("flag_gems/runtime/backend/",)),
    Package("fla-core", "0.6.0", ("triton_ascend",)),
    Package("conch-triton-kernels", "1.3"),
    Package("sageattention", "1.0.6"),
    Package("moe-ops", "0.1.0"),
    Repository(
        "TritonBench-G",
        "603e28a5050e8c268f6883a69709d477a272d49a",
        address="https://github.com/thunlp/TritonBench",
        folder="data/TritonBench_G_v1",
    ),
    Package("vllm", "0.33.0", on_request=True),
    Package("sglang", "0.5.23", on_request=True),
)


def pack(archive: Path, packages: Sequence[Package]) -> None:
    """All sources of these in one archive; nothing else of them is needed."""
    with tarfile.open(archive, "w:xz") as made:
        for package in packages:
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
