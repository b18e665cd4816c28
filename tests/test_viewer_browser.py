"""The pages of plans and lifts in a real browser: they load, the keyboard reaches everything, nothing overflows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser import browser, missing, pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    Show = Callable[..., Page]

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture
def show(opened: Browser, made: dict[str, Path]) -> Iterator[Show]:
    """Opens a page; whatever the browser complains of fails the test, and so does a request for anything else."""
    complaints: list[str] = []
    contexts = []

    def open_page(name: str, width: int = 1280, scheme: str = "light", script: bool = True) -> Page:
        context = opened.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script,
            reduced_motion="reduce",
        )  # fmt: skip
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request", lambda request: complaints.append(request.url) if request.url != made[name].as_uri() else None
        )
        page.goto(made[name].as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("name", ["softmax", "gemm", "lift"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_loads_and_fits(show: Show, name: str, scheme: str, width: int) -> None:
    page = show(name, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width, "the page itself never scrolls sideways"
    sizes = page.evaluate(
        "[...document.querySelectorAll('body *')].filter(e => e.offsetParent && e.childNodes.length"
        " && [...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim()))"
        ".map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 12
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")


def test_variants_are_tabs(show: Show) -> None:
    page = show("softmax")
    visible = "[...document.querySelectorAll('[role=tabpanel]')].filter(e => !e.hidden).map(e => e.id)"
    assert page.evaluate(visible) == ["k1-v0"]
    page.locator("[role=tab]").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.evaluate(visible) == ["k1-v3"]
    assert page.evaluate("document.activeElement.getAttribute('aria-selected')") == "true"
    assert page.locator("#k1-f1").is_visible() and not page.locator("#k1-f0").is_visible()
    page.keyboard.press("Home")
    assert page.evaluate(visible) == ["k1-v0"]


def test_the_keyboard_reaches_tabs_pictures_and_both_listings(show: Show) -> None:
    page = show("softmax")
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "(e => e.getAttribute('role') + ' ' + e.className.baseVal + ' ' + e.id)(document.activeElement)"
            )
        )
    assert any(each.startswith("tab ") for each in reached)
    assert any("cell" in each for each in reached)
    assert any("k1-s-" in each for each in reached) and any("k1-f0-" in each for each in reached)


def _lit(page: Page) -> set[str]:
    return set(page.evaluate("[...document.querySelectorAll('.lit')].map(e => e.textContent.trim())"))


def test_lines_light_up_both_ways(show: Show) -> None:
    page = show("softmax")
    source = page.locator(".source .line.linked", has_text="e = I.exp(v - I.reduce.max(v, axis=0))")
    source.focus()
    assert any("e = tl.exp(v - v_max)" in text for text in _lit(page))
    assert not any("tl.store" in text for text in _lit(page))
    page.keyboard.press("ArrowRight")
    there = page.evaluate("document.activeElement.textContent")
    assert "tl.reduce" in there or "tl.exp" in there
    assert any("e = I.exp" in text for text in _lit(page))
    page.locator("#k1-f0 .line.linked", has_text="tl.store").hover()
    page.locator("#k1-f0 .line.linked", has_text="tl.store").click()
    assert any("out[row, columns] = e / I.reduce.sum" in text for text in _lit(page))
    page.keyboard.press("ArrowUp")
    assert any("e_sum = tl.sum" in text for text in _lit(page))


def test_a_tile_says_what_it_is(show: Show) -> None:
    page = show("gemm")
    page.locator("svg.grid .cell").first.focus()
    output = page.locator("figure output").first
    assert output.text_content() == "program 0: m 0 to 127, n 0 to 255"
    page.keyboard.press("ArrowDown")
    assert output.text_content() == "program 1: m 128 to 255, n 0 to 255"
    page.keyboard.press("ArrowRight")
    assert output.text_content() == "program 9: m 128 to 255, n 256 to 511"


def test_without_a_script_everything_is_shown(show: Show) -> None:
    page = show("softmax", script=False)
    for panel in page.locator("[role=tabpanel]").all():
        assert panel.is_visible()
    page.locator("#k1-s-17 a.number").click()
    assert page.url.rpartition("#")[2].startswith("k1-f0-")


def test_facts_of_a_lift_lead_to_their_lines(show: Show) -> None:
    page = show("lift")
    page.locator("#k1-t-41").focus()
    assert "a_ptr" in _lit(page), "the load of a lights up the fact that a_ptr is the array a"
    assert any("I.In[I.f32" in text for text in _lit(page))
    page.locator(".ledger a").first.click()
    assert page.url.rpartition("#")[2].startswith("k1-t-")
