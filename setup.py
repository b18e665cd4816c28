"""Puts the pages of docs/ into the package, where `intentc read` finds them; everything else is in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


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


setup(cmdclass={"build_py": BuildWithPages})
