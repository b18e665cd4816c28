"""What pyproject.toml cannot say: the pages of docs/ go into the package, and the same files always build to the same
bytes, wherever, whenever and by whomever they are built.
"""

import gzip
import os
import shutil
import tarfile
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

# The time that every file in a built archive has; the oldest that a wheel can express.
EPOCH = int(os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800"))
os.umask(0o022)  # of files that are made while building


def readable(folder: Path) -> None:
    """Give files the same permissions, whatever those of the checkout are."""
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


class BuildWithPages(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            source, target = Path(__file__).parent / "docs", Path(self.build_lib) / "intentc" / "pages"
            shutil.rmtree(target, ignore_errors=True)
            for page in source.rglob("*.md"):
                copy = target / page.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(page, copy)
            readable(Path(self.build_lib))


class ReproducibleWheel(bdist_wheel):
    def egg2dist(self, egginfo_path: str, distinfo_path: str) -> None:
        super().egg2dist(egginfo_path, distinfo_path)
        readable(Path(distinfo_path))


class ReproducibleArchive(sdist):
    def make_archive(self, base_name: str, format: str, root_dir: str | None = None, base_dir: str | None = None,
                     owner: str | None = None, group: str | None = None) -> str:  # fmt: skip
        """A tar file in the order of names, without times, owners and permissions of the machine that builds."""
        folder = Path(root_dir or ".") / (base_dir or base_name)
        name = f"{base_name}.tar.gz"
        with (
            Path(name).open("wb") as file,
            gzip.GzipFile("", "wb", mtime=EPOCH, fileobj=file) as zipped,
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                self._add(archive, path, path.relative_to(folder.parent).as_posix())
        return name

    def _add(self, archive: tarfile.TarFile, path: Path, name: str) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = path.stat().st_size, EPOCH, 0o644
        with path.open("rb") as content:
            archive.addfile(entry, content)


setup(cmdclass={"bdist_wheel": ReproducibleWheel, "build_py": BuildWithPages, "sdist": ReproducibleArchive})
