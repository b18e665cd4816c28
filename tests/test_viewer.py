"""Pages of `explain --html` and `lift --html`: what they say, and that they are sound HTML; no browser is needed."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from command_line import intentc

from intent.records import replace
from intentc.viewer import lift_page, plan_page
from intentc.viewer.axes import axis_views, chosen
from intentc.viewer.example import example, programs
from intentc.viewer.links import links
from intentc.viewer.pictures import Grid, grid_picture
from intentc.viewer.sweeps import flat, loads_of, shared_along, sweeps
from translators.lifting.files import lift_text
from translators.options import DEFAULT
from translators.pipeline import Compilation, compile_text
from translators.triton_source.launch import KernelCode, Variant

ROOT = Path(__file__).parent.parent
SHOWN = [
    *(
        ROOT / "samples" / f"{name}.py"
        for name in ("softmax", "gemm", "lu", "edit_distance", "histogram", "segmented_scan")
    ),
    ROOT / "benchmarks" / "workloads" / "attention.py",
    ROOT / "samples" / "npbench" / "gramschmidt.py",
]
VOID = {"meta", "input", "br", "link"}


def _compiled(path: Path) -> tuple[Compilation, str]:
    text = path.read_text(encoding="utf-8")
    return compile_text(text, str(path)), text


def _page(path: Path) -> str:
    compilation, text = _compiled(path)
    return plan_page(compilation, str(path), text)


class Document(HTMLParser):
    """Ids, references to ids, and text by element; raises if elements do not nest."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: Counter[str] = Counter()
        self.references: set[str] = set()
        self.addresses: set[str] = set()
        self.tags: Counter[str] = Counter()
        self.text: list[tuple[str, str]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags[tag] += 1
        if tag not in VOID:
            self.open.append(tag)
        self.ids.update([found["id"]] if "id" in found else [])
        for name in ("aria-controls", "aria-labelledby", "data-to", "data-panels"):
            self.references.update(found.get(name, "").split())
        self.references.update(re.findall(r"url\(#([^)]+)\)", found.get("style", "")))
        if found.get("href", "").startswith("#"):
            self.references.add(found["href"][1:])
        else:
            self.addresses.update(found[name] for name in ("href", "src") if name in found)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append((self.open[-1] if self.open else "", data))

    def texts(self, *tags: str) -> list[str]:
        return [text for tag, text in self.text if tag in tags]


def _check(page: str) -> Document:
    document = Document(page)
    assert [name for name, count in document.ids.items() if count > 1] == []
    assert document.references <= set(document.ids)
    assert document.addresses == set(), "a page needs nothing else"
    assert len(page) < 400_000
    return document


# ---------------------------------------------------------------------------------------------------------------- plans
@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_page_is_sound_and_complete(path: Path) -> None:
    compilation, text = _compiled(path)
    document = _check(plan_page(compilation, str(path), text))
    shown = " ".join(document.texts("span", "td", "dd", "h2", "h3", "code", "li"))
    for code in compilation.codes:
        assert code.kernel.name in document.texts("h2")
        for variant in code.variants:
            assert variant.function in shown
            assert variant.plan in shown
            assert variant.tiles is not None
            for section in variant.tiles.sections:
                assert section.roles.keys() >= {*section.program}
                for axis in section.roles:
                    assert section.forms[axis].name in document.texts("span"), axis
    lines = {line.strip() for line in text.split("\n")}
    inside = "".join(text for tag, text in document.text if tag in ("code", "i"))
    for code in compilation.codes:
        for stage_line in (line for line in lines if line and line in code.stages):
            assert stage_line in inside


@pytest.mark.long
@pytest.mark.parametrize("folder", ["samples", "samples/npbench", "benchmarks/workloads", "tests/random_faults"])
def test_every_program_of_the_repository_has_a_sound_page(folder: str) -> None:
    for path in sorted((ROOT / folder).glob("*.py")):
        compilation, text = _compiled(path)
        if compilation.source is not None:
            _check(plan_page(compilation, str(path), text))


@pytest.mark.long
def test_every_triton_file_of_the_tests_has_a_sound_page() -> None:
    for path in sorted([*(ROOT / "tests" / "lift").glob("*.py"), *(ROOT / "tests" / "handwritten").glob("*.py")]):
        text = path.read_text(encoding="utf-8")
        _check(lift_page(lift_text(text, str(path)), text, {}))


HOSTILE = '''
import intent
import intent.language as I

# </script><script>alert("1")</script>


@intent.kernel
def double(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    """Twice <b>x</b> & "more"</style><img src=x onerror=alert(1)>."""
    n = I.domain(0, x.shape[0])  # </code></li></script><script>alert(2)</script>
    y[n] = x[n] * 2.0
'''


def test_nothing_of_a_program_becomes_markup() -> None:
    page = plan_page(compile_text(HOSTILE, "<i>.py"), "<i>.py", HOSTILE)
    document = _check(page)
    assert document.tags["script"] == 1 and document.tags["img"] == 0 and document.tags["b"] == 0
    assert "<i>.py" in document.texts("h1")
    assert any("onerror=alert(1)" in text for text in document.texts("p"))


SMALLEST = """
import intent
import intent.language as I


@intent.kernel
def nothing(x: I.In[I.f32, ("N",)]):
    pass


@intent.kernel
def scalar(x: I.In[I.f32, ()], y: I.Out[I.f32, ()]):
    y[()] = x[()] * 2.0


@intent.kernel
def empty(y: I.Out[I.f32, (0,)]):
    n = I.domain(0, 0)
    y[n] = I.cast(I.indices(n), I.f32)
"""


def test_kernels_with_nothing_to_divide() -> None:
    document = _check(plan_page(compile_text(SMALLEST, "small.py"), "small.py", SMALLEST))
    said = document.texts("p", "figcaption")
    assert "The kernel has no effect: nothing is launched." in said and "There is nothing to do." in said
    assert document.texts("h3").count("Axes") == 1, "the other two have none"
    assert any("one program" in text for text in said)


# ------------------------------------------------------------------------------------------- what is drawn is what runs
def _variants(path: Path) -> Iterator[tuple[KernelCode, int, Variant]]:
    for code in _compiled(path)[0].codes:
        for position, variant in enumerate(code.variants):
            yield code, position, variant


class _Language:
    """What the head of a device function calls."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.int32 = int

    def program_id(self, axis: int) -> np.ndarray:
        return _Integer(self.pid)

    def arange(self, low: int, high: int) -> np.ndarray:
        return np.arange(low, high).view(_Integer)

    def cdiv(self, a: int, b: int) -> int:
        return -(-a // b)

    def minimum(self, a: int, b: int) -> int:
        return min(a, b)

    def maximum(self, a: int, b: int) -> int:
        return max(a, b)


class _Integer(np.ndarray):
    def __new__(cls, value: int) -> _Integer:
        return np.asarray(value).view(cls)

    def to(self, dtype: object) -> _Integer:
        return self


def _head(source: str) -> str:
    """The statements of a device function before it touches memory, and those of the loop over programs."""
    body = ast.parse(source).body[0].body
    if any(isinstance(each, ast.For) and "num_programs" in ast.unparse(each.iter) for each in body):
        body = next(each for each in body if isinstance(each, ast.For)).body
    head = []
    for statement in body:
        text = ast.unparse(statement)
        if not isinstance(statement, ast.Assign | ast.AugAssign) or re.search(r"tl\.(load|zeros|reduce)", text):
            break
        if not re.search(r"_ptr|tl\.full", text):
            head.append(text)
    return "\n".join(head)


@pytest.mark.parametrize(
    "name",
    ["samples/gemm", "samples/softmax", "samples/transpose", "samples/batched_gemm", "benchmarks/workloads/attention"],
)
def test_programs_own_what_the_generated_function_computes(name: str) -> None:
    """The text of the device function, run by Python for each program id, gives the coordinates in the picture."""
    compared = 0
    for code, position, variant in _variants(ROOT / f"{name}.py"):
        drawn = example(code.kernel, code.variants, position)
        assert drawn is not None and variant.tiles is not None and len(variant.tiles.sections) == 1
        (section,) = variant.tiles.sections
        found = programs(section, dict(variant.constants), drawn, 0)
        assert found is not None
        for program in found[:: max(len(found) // 40, 1)]:
            values = {**drawn.sizes, **dict(variant.constants), "INDEX": int, "tl": _Language(program.number),
                      "pid": program.number, "scale": 1.0}  # fmt: skip
            exec(_head(variant.source), values)
            for axis, first in program.firsts.items():
                name_of = section.forms[axis].name
                if name_of in values and axis in section.program:
                    assert np.ravel(values[name_of])[0] == first, (variant.function, program, axis)
                    compared += 1
                elif f"first_{name_of}" in values:
                    assert values[f"first_{name_of}"] == first
                    compared += 1
    assert compared >= 15


def test_example_is_for_the_variant_it_is_drawn_for() -> None:
    for code, position, variant in _variants(ROOT / "samples" / "softmax.py"):
        drawn = example(code.kernel, code.variants, position)
        assert drawn is not None
        limits = [1024, 4096, 8192]
        n = drawn.sizes["N"]
        assert next((place for place, limit in enumerate(limits) if n <= limit), 3) == position
        assert n % dict(variant.constants)["BLOCK_COLUMNS"] != 0, "the picture has a tail"


def test_picture_counts_masked_lanes() -> None:
    code, position, variant = next(_variants(ROOT / "samples" / "softmax.py"))
    drawn = example(code.kernel, code.variants, position)
    assert drawn is not None and variant.tiles is not None
    (section,) = variant.tiles.sections
    views = axis_views(section, dict(variant.constants), drawn)
    known = programs(section, dict(variant.constants), drawn, 0)
    assert known is not None
    picture = grid_picture(Grid(*chosen(views), known))
    rows, n = drawn.sizes["M"], drawn.sizes["N"]
    assert picture.count("data-program=") == rows
    assert f"program 1: row 1, columns 0 to {n - 1} ({1024 - n} lanes masked)" in picture


def test_programs_that_run_together_share_columns() -> None:
    """The order of a large product: eight rows of tiles, column by column."""
    code, position, variant = next(_variants(ROOT / "samples" / "gemm.py"))
    drawn = example(code.kernel, code.variants, position)
    assert drawn is not None and variant.tiles is not None
    (section,) = variant.tiles.sections
    found = programs(section, dict(variant.constants), drawn, 0)
    assert found is not None
    m, n = section.program
    places = [(each.firsts[m] // 128, each.firsts[n] // 256) for each in found[:17]]
    assert places == [(number % 8, number // 8) for number in range(17)]


def test_parts_of_a_kernel_have_programs_one_after_the_other() -> None:
    path = ROOT / "samples" / "row_column_sum.py"
    code, position, variant = next(_variants(path))
    drawn = example(code.kernel, code.variants, position)
    assert drawn is not None and variant.tiles is not None
    first, second = variant.tiles.sections
    rows, columns = drawn.sizes["M"], drawn.sizes["N"]
    blocks = dict(variant.constants)
    upper = programs(first, blocks, drawn, 0)
    assert upper is not None
    lower = programs(second, blocks, drawn, len(upper))
    assert lower is not None
    assert [each.number for each in (*upper, *lower)] == list(range(-(-rows // 16) + -(-columns // 32)))
    assert drawn.programs == len(upper) + len(lower)
    page = _page(path)
    assert "Axes, part 2" in page and f'data-program="{len(upper)}"' in page


def test_passes() -> None:
    by_name = {variant.function: variant for _, _, variant in _variants(ROOT / "samples" / "softmax.py")}
    resident, streamed = (by_name[name].tiles.sections[0] for name in ("softmax_resident", "softmax_streamed"))
    assert loads_of(resident) == {"x": 1} and loads_of(streamed) == {"x": 3}
    steps = sweeps(streamed)
    assert [step.reads for step in steps] == [["x"]] * 3 and [step.writes for step in steps] == [[], [], ["out"]]
    relaxed = replace(DEFAULT, numerics="relaxed_normalization")
    text = (ROOT / "samples" / "softmax.py").read_text(encoding="utf-8")
    (last,) = compile_text(text, "softmax.py", relaxed).codes[0].variants[-1].tiles.sections
    assert loads_of(last) == {"x": 2}, "maximum and sum in one pass"
    attention = next(_variants(ROOT / "benchmarks" / "workloads" / "attention.py"))[2].tiles.sections[0]
    assert loads_of(attention) == {"q": 1, "k": 1, "v": 1}, "whole slices and the last one are one pass"


def _touched(source: str) -> tuple[set[str], set[str]]:
    """What the text of a device function reads and writes: pointers are followed through the names they are given."""
    based: dict[str, set[str]] = {}
    read: set[str] = set()
    written: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign):
            for target in (each for each in ast.walk(node.targets[0]) if isinstance(each, ast.Name)):
                based.setdefault(target.id, set()).update(_bases(node.value, based, plain=True))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            place = node.func.value if name in ("load", "store") and ast.unparse(node.func.value) != "tl" else None
            pointers = _bases(place if place is not None else node.args[0], based) if node.args else set()
            if name == "load":
                read |= pointers
            elif name == "store" or name.startswith("atomic_"):
                written |= pointers
    return read, written


def _bases(node: ast.expr, based: dict[str, set[str]], plain: bool = False) -> set[str]:
    """The arrays whose pointers an expression mentions; what is loaded is no pointer."""
    if plain and any(isinstance(each, ast.Attribute) and each.attr == "load" for each in ast.walk(node)):
        return set()
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return {name.removesuffix("_ptr") for name in names if name.endswith("_ptr")}.union(
        *(based.get(name, set()) for name in names)
    )


def test_what_the_steps_touch_is_what_the_text_touches() -> None:
    compared = 0
    for path in sorted((ROOT / "samples").glob("*.py"))[::6]:
        for _, _, variant in _variants(path):
            assert variant.tiles is not None
            if "_atomic" in variant.source or "def _" in variant.source:
                continue  # helpers touch memory
            steps = [step for section in variant.tiles.sections for step in flat(sweeps(section))]
            read, written = _touched(variant.source)
            assert {name for step in steps for name in step.reads} == read, (path, variant.function)
            assert {name for step in steps for name in step.writes} == written, (path, variant.function)
            compared += 1
    assert compared > 25


def test_what_programs_share() -> None:
    """Rows whose place depends on the program, if only through what it reads, are not shared along its axis."""
    by_name = {}
    for name in ("gemm", "grouped_gemm"):
        (section,) = next(_variants(ROOT / "samples" / f"{name}.py"))[2].tiles.sections
        by_name[name] = {
            memory: [section.forms[axis].name for axis in axes] for memory, axes in shared_along(section).items()
        }
    assert by_name["gemm"] == {"a": ["n"], "b": ["m"]}
    assert by_name["grouped_gemm"] == {"x": ["n"], "weight": [], "offsets": ["n"]}


def test_steps_of_loops_inside_loops_are_in_order() -> None:
    (section,) = next(_variants(ROOT / "samples" / "grouped_gemm.py"))[2].tiles.sections
    offsets, tiles = sweeps(section)
    assert offsets.reads == ["offsets"] and tiles.reads == tiles.writes == []
    assert [(step.reads, step.writes) for step in tiles.inner] == [(["x", "weight"], []), ([], ["out"])]


def test_page_has_the_host_functions_and_the_device_functions_that_are_called() -> None:
    document = _check(_page(ROOT / "samples" / "split_decode.py"))
    assert "On the host" in document.texts("h2")
    assert "build" in document.texts("i") and "context.compile" in "".join(document.texts("code"))
    assert any("_exp" in text for text in document.texts("summary"))


# ---------------------------------------------------------------------------------------------------------------- links
def test_lines_of_softmax() -> None:
    path = ROOT / "samples" / "softmax.py"
    compilation, text = _compiled(path)
    lines = text.split("\n")
    for variant in compilation.codes[0].variants:
        found = links(variant, {str(path): text}, "softmax")
        by_text = {
            line.strip(): {lines[number - 1].strip() for _, number in found.sources.get(place, ())}
            for place, line in enumerate(variant.source.split("\n"), 1)
        }
        exponential = next(each for line, each in by_text.items() if "tl.exp(v - v_max)" in line)
        store = next(each for line, each in by_text.items() if line.startswith("tl.store"))
        load = next(each for line, each in by_text.items() if "tl.load" in line)
        columns = next(each for line, each in by_text.items() if line.startswith("columns ="))
        assert exponential == {"e = I.exp(v - I.reduce.max(v, axis=0))"}
        assert store == {"out[row, columns] = e / I.reduce.sum(e, axis=0)"}
        assert "v = x[row, columns] * scale" in load
        assert "columns = I.domain(0, N)" in columns


def test_helpers_of_other_files_are_shown_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = (
        "import intent\nimport intent.language as I\n\n\n@intent.fn\ndef squash(v):\n    return I.tanh(v - 1.0) * 0.5\n"
    )
    kernel = """import intent
import intent.language as I
from helpers import squash


@intent.kernel
def apply(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    n = I.domain(0, x.shape[0])
    y[n] = squash(x[n]) + x[n]
"""
    (tmp_path / "helpers.py").write_text(helper, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for path in (str(tmp_path / "kernel.py"), "kernel.py"):
        document = _check(plan_page(compile_text(kernel, path), path, kernel))
        assert document.texts("h3").count("helpers.py") == 1
        assert "k1-s1-7" in document.ids and "k1-s1-7" in document.references


def test_a_renamed_function_is_shown_as_it_stands_in_the_module() -> None:
    second = HOSTILE.partition("@intent.kernel")[2].replace("def double(", "def math_kernel(")
    text = HOSTILE.replace("def double(", "def math(") + "\n\n@intent.kernel" + second
    compilation = compile_text(text, "names.py")
    document = _check(plan_page(compilation, "names.py", text))
    lines = (compilation.source or "").split("\n")
    found = [(code.variants[0].function, names.device_function(code.variants[0]))
             for names, code in zip(compilation.names, compilation.codes, strict=True)]  # fmt: skip
    assert any(function != shown for function, shown in found)
    for _, shown in found:
        line = next(number for number, line in enumerate(lines, 1) if line.startswith(f"def {shown}("))
        assert f"{shown}, from line {line} of the module" in document.texts("h3")


def test_every_effect_is_linked_both_ways() -> None:
    for path in sorted((ROOT / "samples").glob("*.py"))[::7]:
        compilation, text = _compiled(path)
        _check(plan_page(compilation, str(path), text))
        for code in compilation.codes:
            for variant in code.variants:
                assert len(variant.origins) == variant.source.count("\n") + 1
                found = links(variant, {str(path): text}, code.kernel.name)
                for number, line in enumerate(variant.source.split("\n"), 1):
                    if re.match(r"\s+(tl\.store|tl\.atomic)", line):
                        assert found.sources.get(number), (path, line)
                        assert number not in found.loose


# ---------------------------------------------------------------------------------------------------------------- lifts
@pytest.mark.parametrize("name", ["softmax", "gemm", "layer_norm"])
def test_lift_page(name: str) -> None:
    path = ROOT / "tests" / "handwritten" / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    lifted = lift_text(text, str(path))
    document = _check(lift_page(lifted, text, {}))
    shown = document.texts("span")
    for kernel in lifted.kernels:
        assert kernel.name in document.texts("h2")
        assert {view.pointer for view in kernel.views} <= set(shown)
        assert {*kernel.physical, *kernel.groups, "program_id(0)"} <= set(shown)
        assert kernel.correspondence is not None
        strides = {stride for view in kernel.views for stride in view.strides}
        assert {*kernel.correspondence.integers, *kernel.correspondence.floats} - strides <= set(shown)
        assert len(kernel.notes) <= sum(text in ("proven", "assumed", "host", "heuristic") for text in shown)


def test_lift_page_of_what_is_not_lifted() -> None:
    text = (
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef odd(x_ptr):\n"
        "    tl.inline_asm_elementwise('', '', [x_ptr], tl.float32, True, 1)\n"
    )
    lifted = lift_text(text, "odd.py")
    document = _check(lift_page(lifted, text, {}))
    assert lifted.kernels[0].source is None
    assert any((lifted.kernels[0].reason or "?") in each for each in document.texts("p"))


# ------------------------------------------------------------------------------------------------------------- contrast
def _colours(scheme: str) -> dict[str, tuple[float, ...]]:
    css = (ROOT / "intentc" / "viewer" / "style.css").read_text(encoding="utf-8")
    light, _, rest = css.partition("@media (prefers-color-scheme: dark)")
    text = light + (rest.partition("* { box-sizing")[0] if scheme == "dark" else "")
    found = dict(re.findall(r"--([\w-]+): #([0-9a-f]{3,8})", text))
    wide = {name: value if len(value) > 4 else "".join(2 * each for each in value) for name, value in found.items()}
    return {name: tuple(int(value[n : n + 2], 16) / 255 for n in (0, 2, 4)) for name, value in wide.items()}


def _luminance(colour: tuple[float, ...]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(scheme: str) -> None:
    """At least 4.5 to 1, as the accessibility guidelines ask of text."""
    colours = _colours(scheme)
    grounds = {
        "ink": ("paper", "raised", "mark", "program", "resident", "streamed", "slice"),
        "quiet": ("paper", "raised"),
    }
    for name in ("keyword", "string", "number", "comment", "definition", "accent"):
        grounds[name] = ("raised",)
    for front, backs in grounds.items():
        for back in backs:
            first, second = sorted((_luminance(colours[front]), _luminance(colours[back])), reverse=True)
            assert (first + 0.05) / (second + 0.05) >= 4.5, (scheme, front, back)


# ------------------------------------------------------------------------------------------------------------ commands
def test_explain_writes_a_page(tmp_path: Path) -> None:
    out = tmp_path / "plan.html"
    done = intentc("explain", str(ROOT / "samples" / "softmax.py"), "--html", str(out))
    assert done.status == 0 and done.output == ""
    assert out.read_text(encoding="utf-8") == _page(ROOT / "samples" / "softmax.py")


def test_explain_writes_no_page_of_a_rejected_file(tmp_path: Path) -> None:
    source, out = tmp_path / "wrong.py", tmp_path / "plan.html"
    source.write_text(HOSTILE.replace("x[n] * 2.0", "x[n] * n"), encoding="utf-8")
    done = intentc("explain", str(source), "--html", str(out))
    assert done.status == 1 and not out.exists()


def test_a_page_overwrites_no_source(tmp_path: Path) -> None:
    source = tmp_path / "double.py"
    source.write_text(HOSTILE, encoding="utf-8")
    for command in ("explain", "lift"):
        assert intentc(command, str(source), "--html", str(source)).status == 2
    assert intentc("explain", "INT401", "--html", str(tmp_path / "a.html")).status == 2
    assert source.read_text(encoding="utf-8") == HOSTILE


def test_lift_writes_a_page(tmp_path: Path) -> None:
    out = tmp_path / "lift.html"
    path = ROOT / "tests" / "handwritten" / "softmax.py"
    done = intentc("lift", str(path), "-o", str(tmp_path / "lifted.py"), "--html", str(out))
    assert done.status == 0
    _check(out.read_text(encoding="utf-8"))
