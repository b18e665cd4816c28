"""A real browser for tests, and the pictures of docs/pictures/: `python -m tests.browser` draws them again.

Chromium is whichever is installed (the package `chromium`, Chrome); playwright drives it, and drawing needs pillow.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
_OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--disable-quic", "--force-color-profile=srgb", "--font-render-hinting=none",
]  # fmt: skip


def missing() -> str:
    """Why there is no browser to test with; empty if there is one."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed: pip install 'intentc[test]'"
    return "" if _chromium() else "there is no Chromium: apt-get install chromium"


def _chromium() -> str | None:
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome", "chrome"))
    return next((path for path in found if path), None)


@contextmanager
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=_chromium(), args=_OPTIONS)
        try:
            yield opened
        finally:
            opened.close()


def pages(folder: Path) -> dict[str, Path]:
    """The pages that are tested and drawn, written into a folder."""
    from intentc.viewer import lift_page, plan_page
    from translators.lifting.files import lift_text
    from translators.pipeline import compile_text

    found = {}
    for name in ("softmax", "gemm"):
        text = (ROOT / "samples" / f"{name}.py").read_text(encoding="utf-8")
        path = f"{name}.py"
        found[name] = folder / f"{name}.html"
        found[name].write_text(plan_page(compile_text(text, path), path, text), encoding="utf-8")
    text = (ROOT / "tests" / "handwritten" / "gemm.py").read_text(encoding="utf-8")
    found["lift"] = folder / "lift.html"
    found["lift"].write_text(lift_page(lift_text(text, "gemm_triton.py"), text, {}), encoding="utf-8")
    return found


def draw(folder: Path) -> None:
    """The pictures of the documentation."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as written, browser() as opened:
        made = pages(Path(written))
        _shot(opened, made["softmax"], folder / "plan-softmax.png", 1280, 1050, tab=3)
        _shot(opened, made["gemm"], folder / "plan-gemm.png", 1280, 900)
        _shot(opened, made["softmax"], folder / "plan-softmax-code.png", 1280, 760, tab=3, at=".codes", line="#k1-s-17")
        _shot(opened, made["gemm"], folder / "plan-gemm-dark.png", 1280, 900, scheme="dark")
        _shot(opened, made["softmax"], folder / "plan-softmax-narrow.png", 400, 900, tab=3)
        _shot(opened, made["lift"], folder / "lift-gemm.png", 1280, 1000, line="#k1-t-41")


def _shot(
    opened: Browser, page: Path, out: Path, width: int, height: int, tab: int = 0, at: str = "", line: str = "",
    scheme: str = "light",
) -> None:  # fmt: skip
    context = opened.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    shown = context.new_page()
    shown.goto(page.as_uri())
    if tab:
        shown.locator("[role=tab]").nth(tab).click()
    if at:
        shown.evaluate("at => scrollTo(0, document.querySelector(at).getBoundingClientRect().top + scrollY - 16)", at)
    if line:
        shown.evaluate("line => document.querySelector(line).focus({preventScroll: true})", line)
    shown.screenshot(path=str(out))
    context.close()
    _shrink(out)


def _shrink(picture: Path) -> None:
    """A palette of 160 colours is enough for what is drawn here."""
    from PIL import Image

    Image.open(picture).convert("RGB").quantize(160, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    draw(PICTURES)
