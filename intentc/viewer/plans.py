"""The page of `intentc explain FILE --html`: each kernel's source beside its plan and what was generated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

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
from translators.triton_source.module_names import KernelNames, renamed


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel, the file it is in, and the prefix of its ids."""

    code: KernelCode
    compilation: Compilation
    path: str
    text: str
    names: KernelNames
    name: str

    @property
    def files(self) -> dict[str, str]:
        """Path and text of the kernel's file, and of those that helpers were imported from."""
        program = self.compilation.program
        imported = program.imported if program is not None else {}
        found = {self.path: self.text}
        for path in sorted({file for each in self.code.variants for lines in each.origins for file, _ in lines}):
            known = imported.get(str(Path(path).resolve()))
            if known is not None:
                found.setdefault(path, known.decode("utf-8", "replace"))
        return found

    @property
    def functions(self) -> list[Variant]:
        """One variant for each device function."""
        return list({variant.function: variant for variant in self.code.variants}.values())


def plan_page(compilation: Compilation, path: str, text: str) -> str:
    """The page of a file that compiles. `path` is its name in the compilation's diagnostics, `text` what is in it."""
    pairs = zip(compilation.codes, compilation.names, strict=True)
    kernels = [
        _Kernel(code, compilation, path, text, names, f"k{number}") for number, (code, names) in enumerate(pairs, 1)
    ]
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
    called = pane("Called", listing, shown.code.kernel.name, "inset")
    return element("details", element("summary", f"Device functions that are called: {names}"), called)


def _host(compilation: Compilation, path: str, text: str) -> Markup | None:
    """The functions of the file that compose kernels, which the module has too."""
    host, spans = compilation.program.host if compilation.program is not None else None, definitions(text)
    names = [name for each in (host.definitions if host is not None else ()) for name in each.names if name in spans]
    if not names:
        return None
    numbers = sorted({number for name in names for number in range(spans[name][0], spans[name][1] + 1)})
    listing = Listing("host", text.split("\n"), numbers)
    said = "These functions call the kernels, one launch after the other; the module has them too."
    source = pane(path.rpartition("/")[2], listing, "on the host", "inset")
    head = element("h2", "On the host")
    return element("section", head, element("p", said), source, class_="kernel", id="host-functions")


# ----------------------------------------------------------------------------------------------------------------- code
def _codes(shown: _Kernel) -> Markup:
    """The author's lines on one side, the device function of the chosen variant on the other."""
    found = {_function_id(shown, each): links(each, shown.files, shown.code.kernel.name) for each in shown.functions}
    back = _backwards(found)
    sources = [_source(shown, path, {line: ids for (file, line), ids in back.items() if file == path})
               for path in shown.files]  # fmt: skip
    generated = [
        element("div", _generated(shown, each, found[_function_id(shown, each)]), id=_function_id(shown, each))
        for each in shown.functions
    ]
    return element("div", element("div", sources, class_="sources"), element("div", generated), class_="codes")


def _source(shown: _Kernel, path: str, back: Mapping[int, Sequence[str]]) -> Markup | None:
    """The kernel and every function of the file that something was generated from."""
    text = shown.files[path]
    kernel = shown.code.kernel.name if path == shown.path else None
    spans = [
        (first, last)
        for name, (first, last) in definitions(text).items()
        if name == kernel or any(first <= line <= last for line in back)
    ]
    inside = {number for first, last in spans for number in range(first, last + 1)}
    numbers = sorted(inside | {line for line in back if line <= text.count("\n") + 1})
    if not numbers:
        return None
    listing = Listing(_source_id(shown, path), text.split("\n"), numbers, back)
    return pane(path.rpartition("/")[2], listing, shown.code.kernel.name, "source")


def _source_id(shown: _Kernel, path: str) -> str:
    """The prefix of the ids of a file's lines."""
    return f"{shown.name}-s{list(shown.files).index(path) or ''}"


def _backwards(found: Mapping[str, Links]) -> dict[tuple[str, int], list[str]]:
    """From the author's lines to those generated from them: the statements that compute first."""
    every = [(name, each, number) for name, each in found.items() for number in each.sources]
    back: dict[tuple[str, int], list[str]] = {}
    for name, each, number in sorted(every, key=lambda found: found[2] in found[1].loose):
        for place in each.sources[number]:
            back.setdefault(place, []).append(f"{name}-{number}")
    return back


def _generated(shown: _Kernel, variant: Variant, found: Links) -> Markup:
    """The function as it stands in the module, where names that clash are others."""
    names = shown.names
    text = renamed(variant.source, names.changes(variant))
    module = shown.compilation.source or text
    before, lines = module[: module.index(text)].count("\n"), text.split("\n")
    to = {
        number: [f"{_source_id(shown, path)}-{line}" for path, line in sources]
        for number, sources in found.sources.items()
    }
    listing = Listing(_function_id(shown, variant), lines, range(1, len(lines) + 1), to, found.loose, before)
    return pane(f"{names.device_function(variant)}, from line {before + 1} of the module", listing, "generated")


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
        place = line_link(f"{_source_id(shown, shown.path)}-{note.span.line}", note.span.line)
    advice = f" {note.help[0].upper()}{note.help[1:]}." if note.help else ""
    return [element("span", note.code, class_="badge"), " ", note.message + ".", advice, " (line ", place, ")"]
