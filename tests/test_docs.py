"""The documentation as a whole: all of it can be found, every block is run somewhere, nothing leads nowhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import commands_page
import guides
import pytest
import shown_commands
import test_language_pages
from browser import browser, missing
from typer.testing import CliRunner

from intentc.__main__ import COMMANDS, application
from intentc.lookup.pages import anchor
from tests.links import complaint, links

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
READMES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "samples" / "README.md",
    ROOT / "samples" / "npbench" / "README.md",
]
_FENCED = re.compile(r"^(```+|~~~+)(\S*).*?\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)

# What runs the blocks of a page: the pages are named here, the work is done by the tests of the other files.
RUN = {
    "python": {*guides.PAGES, *test_language_pages.PAGES, DOCS / "host-api.md", ROOT / "README.md"},
    "console": {*guides.PAGES},
    "json": {DOCS / "mcp.md"},
    "lua": {DOCS / "editors.md"},
    "toml": {DOCS / "editors.md"},
    "yaml": {DOCS / "editors.md"},
    "sh": {*shown_commands.PAGES},
    "{toctree}": {DOCS / "index.md"},
}


def _blocks(path: Path) -> list[tuple[str, str]]:
    return [(kind, text) for _, kind, text in _FENCED.findall(path.read_text(encoding="utf-8"))]


def _prose(path: Path) -> str:
    return _FENCED.sub("", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [*PAGES, *READMES], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_is_run(path: Path) -> None:
    for kind, text in _blocks(path):
        assert path in RUN.get(kind, set()), f"nothing runs this block of {kind or 'no kind'}: {text[:60]}"


@pytest.mark.parametrize("path", guides.PAGES, ids=lambda path: path.stem)
def test_every_file_of_a_guide_is_used(path: Path) -> None:
    blocks = _blocks(path)
    for place, (kind, text) in enumerate(blocks):
        named = re.match(r"# (\w+)\.py\n", text)
        if kind == "python" and named:
            assert any(re.search(rf"\b{named[1]}\b", later) for _, later in blocks[place + 1 :]), named[1]


def test_commands_page_is_current() -> None:
    assert commands_page.PAGE.read_text(encoding="utf-8") == commands_page.page(), "run `python -m tests.commands_page`"


def test_commands_page_has_the_options_that_help_has() -> None:
    """Both come from the same functions, by different ways."""
    app = application(tuple(COMMANDS))
    for section in commands_page.page().split("## intentc ")[1:]:
        name = section.split("\n")[0]
        shown = set(re.findall(r"`(--?[a-z][\w-]*)`", section))
        said = CliRunner().invoke(app, [name, "--help"]).output
        there = set(re.findall(r"^  (--?[\w-]+)|^  -\w, (--[\w-]+)", said, re.MULTILINE))
        names = {each for pair in there for each in pair if each} - {"-h", "--help"}
        assert names <= shown, (name, names - shown)
        assert all(option in said for option in shown), name


def test_navigation_has_every_page_once() -> None:
    entries = [
        line.strip()
        for kind, text in _blocks(DOCS / "index.md")
        for line in text.split("\n")
        if kind == "{toctree}" and line.strip() and not line.startswith(":")
    ]
    assert sorted(entries) == sorted(
        page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES if page != DOCS / "index.md"
    )


def _anchors(path: Path) -> set[str]:
    return {anchor(title) for title in re.findall(r"^#{1,6} (.+)$", _prose(path), re.MULTILINE)}


@pytest.mark.parametrize("path", [*PAGES, *READMES], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for text, target in re.findall(r"\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)", _prose(path)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, section = target.partition("#")
        found = (path.parent / file).resolve() if file else path
        assert found.exists(), target
        assert text.strip(), f"{target} has no words"
        if section:
            assert section in _anchors(found), target


@pytest.mark.parametrize("path", shown_commands.PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_that_lead_out_are_as_they_should_be(path: Path) -> None:
    """`make links` follows them."""
    assert {link: complaint(link) for link in links(path) if complaint(link)} == {}


def test_what_is_wrong_with_a_link() -> None:
    assert complaint("https://pre-commit.com/hooks") == ""
    for link in ("http://pre-commit.com", "https://pre-commit.com.net", "https://a@pre-commit.com", "https:///x"):
        assert complaint(link), link


def test_pictures_say_what_they_show() -> None:
    shown = set()
    for path in PAGES:
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", _prose(path)):
            assert len(words) > 20, (path, target)
            shown.add((path.parent / target).resolve())
    assert len(shown) >= 4
    for picture in (DOCS / "pictures").iterdir():
        assert picture.stat().st_size < 80_000, picture


@pytest.mark.parametrize("path", [*PAGES, *READMES], ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_that_are_named_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"`intentc ([a-z]+)", text):
        assert command in COMMANDS, command
    for target in re.findall(r"`make ([\w-]+)|^ *make ([\w-]+)", text, re.MULTILINE):
        assert re.search(rf"^{target[0] or target[1]}:", makefile, re.MULTILINE), target
    for module in re.findall(r"\bpython3? -m ((?:tests|benchmarks)[\w.]*)", text):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; a warning, such as a reference to nothing, is an error."""
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("sphinx is missing: pip install 'intentc[docs]'")
    folder = tmp_path_factory.mktemp("docs")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        folder / "trees",
        DOCS,
        folder / "site",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_site_has_every_page_and_needs_no_network(site: Path) -> None:
    for page in PAGES:
        built = (site / page.relative_to(DOCS)).with_suffix(".html").read_text(encoding="utf-8")
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", built):
            assert not re.search(r'(?:src|href)="(?:https?:)?//', tag), (page, tag)


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_site_in_a_browser(site: Path) -> None:
    complaints: list[str] = []
    with browser() as opened:
        for width, scheme in ((1280, "light"), (400, "dark")):
            context = opened.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            for name in ("index", "guides/plans", "language/intrinsics", "zh/quick-start"):
                page = context.new_page()
                page.on("console", lambda message: complaints.append(message.text))
                page.on("pageerror", lambda error: complaints.append(str(error)))
                page.on("request", lambda request: complaints.extend([request.url] * (request.url[:5] != "file:")))
                page.goto((site / f"{name}.html").as_uri())
                assert page.evaluate("document.documentElement.scrollWidth") == width, name
                assert page.evaluate("[...document.images].every(image => image.naturalWidth > 0)"), name
                page.close()
    assert complaints == []
