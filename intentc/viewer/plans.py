"""The page of `intentc explain FILE --html`: each kernel's source beside its plan and what was generated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.records import dataclass
from intentc.viewer.code import Listing, definitions
from intentc.viewer.facts import kernel_facts
from intentc.viewer.links import Links, links
from intentc.viewer.markup import Markup, element
from intentc.viewer.page import document, line_link, listed, pane
from intentc.viewer.pictures import hatching
from intentc.viewer.variants import condition_text, fact_list, variant_panel
from translators.diagnostics import Diagnostic
from translators.pipeline import Compilation
from translators.triton_source.launch import KernelCode, Variant


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel, the file it is in, and the prefix of its ids."""

    code: KernelCode
    compilation: Compilation
    path: str
    text: str
    name: str

    @property
    def functions(self) -> list[Variant]:
        """One variant for each device function."""
        return list({variant.function: variant for variant in self.code.variants}.values())


def plan_page(compilation: Compilation, path: str, text: str) -> str:
    """The page of a file that compiles. `path` is its name in the compilation's diagnostics, `text` what is in it."""
    kernels = [_Kernel(code, compilation, path, text, f"k{number}") for number, code in enumerate(compilation.codes, 1)]
    title = path.rpartition("/")[2]
    count = f"{len(kernels)} kernels" if len(kernels) != 1 else "one kernel"
    entries = [(each.name, each.code.kernel.name) for each in kernels]
    summary = (
        f"The plan of {count}: what is computed, how it is divided into tiles, and the Triton code that comes of it."
    )
    host = _host(compilation, path, text)
    entries += [("host-functions", "On the host")] if host is not None else []
    return document(title, summary, entries, [hatching(), *(_kernel(each) for each in kernels), host])


def _kernel(shown: _Kernel) -> Markup:
    code, name = shown.code, shown.name
    variants = range(len(code.variants))
    tabs = [
        element(
            "button", condition_text(code.variants[n]), type="button", role="tab", id=f"{name}-tab{n}",
            aria_controls=f"{name}-v{n}", data_panels=f"{name}-v{n} {_function_id(shown, code.variants[n])}",
        )
        for n in variants
    ]  # fmt: skip
    panels = [
        element("div", variant_panel(code, n), id=f"{name}-v{n}", role="tabpanel",
                aria_labelledby=f"{name}-tab{n}")
        for n in variants
    ]  # fmt: skip
    return element(
        "section", element("h2", code.kernel.name), element("p", _signature(code), class_="signature"),
        element("p", code.kernel.docstring.strip().split("\n")[0]) if code.kernel.docstring else None,
        element("div", tabs, role="tablist", aria_label="Variants"), panels, _codes(shown), _foot(shown),
        _helpers(shown), class_="kernel", id=name,
    )  # fmt: skip


def _signature(code: KernelCode) -> str:
    views = [f"{v.direction} {v.name}[{', '.join(map(repr, v.shape))}] {v.dtype.name}" for v in code.kernel.views]
    return " · ".join([*views, *(f"{scalar.name} {scalar.dtype.name}" for scalar in code.kernel.scalars)])


def _function_id(shown: _Kernel, variant: Variant) -> str:
    return f"{shown.name}-f{[each.function for each in shown.functions].index(variant.function)}"


def _helpers(shown: _Kernel) -> Markup | None:
    """The device functions that those above call: the author's combines, and the compiler's own."""
    if not shown.code.helpers:
        return None
    lines = "\n\n".join(text.strip("\n") for text in shown.code.helpers.values()).split("\n")
    listing = Listing(f"{shown.name}-h", lines, range(1, len(lines) + 1))
    names = ", ".join(shown.code.helpers)
    return element(
        "details", element("summary", f"Device functions that are called: {names}"), pane("Called", listing, "inset")
    )


def _host(compilation: Compilation, path: str, text: str) -> Markup | None:
    """The functions of the file that compose kernels, which the module has too."""
    host, spans = compilation.program.host if compilation.program is not None else None, definitions(text)
    names = [name for each in (host.definitions if host is not None else ()) for name in each.names if name in spans]
    if not names:
        return None
    numbers = sorted({number for name in names for number in range(spans[name][0], spans[name][1] + 1)})
    listing = Listing("host", text.split("\n"), numbers)
    said = "These functions call the kernels, one launch after the other; the module has them too."
    return element(
        "section", element("h2", "On the host"), element("p", said), pane(path.rpartition("/")[2], listing, "inset"),
        class_="kernel", id="host-functions",
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------- code
def _codes(shown: _Kernel) -> Markup:
    """The author's lines on one side, the device function of the chosen variant on the other."""
    name, lines = shown.name, shown.text.split("\n")
    found = {
        _function_id(shown, each): links(each, shown.path, shown.text, shown.code.kernel.name)
        for each in shown.functions
    }
    source = Listing(f"{name}-s", lines, _numbers(shown, list(found.values())), _backwards(found))
    generated = [
        element("div", _generated(shown, each, found[_function_id(shown, each)]), id=_function_id(shown, each))
        for each in shown.functions
    ]
    left = pane(shown.path.rpartition("/")[2], source, "source")
    return element("div", left, element("div", generated), class_="codes")


def _numbers(shown: _Kernel, found: Sequence[Links]) -> list[int]:
    """The lines of the kernel and of every function that something was generated from."""
    kernel = shown.code.kernel.name
    used = {line for each in found for lines in each.sources.values() for line in lines}
    spans = definitions(shown.text)
    wanted = [
        (first, last)
        for name, (first, last) in spans.items()
        if name == kernel or any(first <= line <= last for line in used)
    ]
    inside = {number for first, last in wanted for number in range(first, last + 1)}
    return sorted(inside | {line for line in used if line <= shown.text.count("\n") + 1})


def _backwards(found: Mapping[str, Links]) -> dict[int, list[str]]:
    """From the author's lines to those generated from them: the statements that compute first."""
    every = [(name, each, number) for name, each in found.items() for number in each.sources]
    back: dict[int, list[str]] = {}
    for name, each, number in sorted(every, key=lambda found: found[2] in found[1].loose):
        for line in each.sources[number]:
            back.setdefault(line, []).append(f"{name}-{number}")
    return back


def _generated(shown: _Kernel, variant: Variant, found: Links) -> Markup:
    lines = variant.source.split("\n")
    to = {number: [f"{shown.name}-s-{line}" for line in sources] for number, sources in found.sources.items()}
    module = shown.compilation.source or ""
    before = module[: module.find(variant.source)].count("\n") if variant.source in module else 0
    function = _function_id(shown, variant)
    listing = Listing(function, lines, range(1, len(lines) + 1), to, found.loose, before)
    return pane(f"{variant.function}, from line {before + 1} of the module", listing)


# ---------------------------------------------------------------------------------------------------------------- below
def _foot(shown: _Kernel) -> Markup:
    notes = [each for each in shown.compilation.diagnostics if each in shown.code.notes]
    facts = element("div", element("h3", "Proven for every call"), fact_list(list(kernel_facts(shown.code))))
    if not notes:
        return element("div", facts, class_="block")
    items = [_note(shown, note) for note in notes]
    return element("div", facts, element("div", element("h3", "Notes"), listed(items)), class_="columns")


def _note(shown: _Kernel, note: Diagnostic) -> list[Markup | str]:
    first, last = definitions(shown.text).get(shown.code.kernel.name, (0, 0))
    inside = note.span.path == shown.path and first <= note.span.line <= last
    place: Markup | str = str(note.span.line)
    if inside:
        place = line_link(f"{shown.name}-s-{note.span.line}", note.span.line)
    advice = f" {note.help[0].upper()}{note.help[1:]}." if note.help else ""
    return [element("span", note.code, class_="badge"), " ", note.message + ".", advice, " (line ", place, ")"]
