"""The text of one kernel in a generated module: device functions, launcher, declaration, public wrappers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from intent.dtypes import DType
from translators.algebra.polynomial import Polynomial, Symbol
from translators.logical.types import View, output_symbols, view_symbols
from translators.printing.layout import fold
from translators.triton_source.launch import (
    TILES,
    Argument,
    KernelCode,
    Pointer,
    Requirement,
    ScalarArgument,
    ScratchPointer,
    Size,
    Stride,
    Variant,
)
from translators.triton_source.module_layout import LINE_LENGTH, call, collection, string, tuple_text
from translators.triton_source.module_names import MODULE_LEVEL, KernelNames, renamed
from translators.triton_source.names import Scope


def dtype_name(dtype: DType) -> str:
    """The dtype's name in torch and NumPy."""
    return dtype.element


def device_functions(code: KernelCode, names: KernelNames) -> list[str]:
    """The helpers and jit functions, each once."""
    helpers = [renamed(text, names.helpers).strip("\n") for text in code.helpers.values()]
    variants = [_jit(code, variant, names) for variant in _distinct(code.variants)]
    return helpers + variants


def host_text(code: KernelCode, names: KernelNames, prepared: bool) -> list[str]:
    """Launcher, declaration and wrappers, in this order; where calls are `prepared`, what binds their arguments."""
    binding = [_prepare(code, names)] if prepared else []
    return [launcher(code, names), declaration(code, names), *wrappers(code, names), *binding]


# ---------------------------------------------------------------------------------------------------- device functions
def _distinct(variants: Sequence[Variant]) -> list[Variant]:
    """Buckets of one form differ in their block sizes only and share a function."""
    return list({variant.source: variant for variant in variants}.values())


def _jit(code: KernelCode, variant: Variant, names: KernelNames) -> str:
    free = [string(names.launch.argument(argument)) for argument in variant.arguments if _unspecialised(code, argument)]
    decorator = call("@triton.jit(", [collection("do_not_specialize=[", free, "]")]) if free else "@triton.jit"
    if len(decorator.splitlines()[0]) > 120 or "\n" in decorator:
        decorator = "@triton.jit(\n" + collection("do_not_specialize=[", free, "]", indent=4) + "\n)"
    return decorator + "\n" + renamed(variant.source, names.changes(variant)).strip("\n")


def _unspecialised(code: KernelCode, argument: Argument) -> bool:
    """Scalars, and sizes whose divisibility no wide access can use: those that never count the elements of a row."""
    match argument:
        case ScalarArgument():
            return True
        case Size(symbol):
            return symbol not in row_sizes(code)
        case _:
            return False


def row_sizes(code: KernelCode) -> list[str]:
    """Symbols that are the innermost extent of a view with rows, or of any if none has: of contiguous rows this is
    what their distance is, on whose alignment that of all accesses depends.
    """
    views = code.kernel.views
    rank = min(2, max((view.rank for view in views), default=0))
    innermost = (view.shape[-1].atom for view in views if view.rank >= rank > 0)
    return list(dict.fromkeys(atom.name for atom in innermost if isinstance(atom, Symbol)))


# ------------------------------------------------------------------------------------------------------------ launcher
def launcher(code: KernelCode, names: KernelNames) -> str:
    _assert_order(code)
    scope = Scope([*names.launch.parameters.values(), *names.launch.sizes.values(), *MODULE_LEVEL, *names.functions])
    plan, integers, index = scope.name("plan"), scope.name("integers"), scope.name("index")
    views = [local(view.name, names) for view in code.kernel.views]
    parameters = [*views, *(local(s.name, names) for s in code.kernel.scalars), *names.launch.sizes.values()]
    same = len({_integers(variant) for variant in code.variants}) == 1
    passes_integers = any(isinstance(each, Size | Stride) for variant in code.variants for each in variant.arguments)
    lines = [call(f"def {names.launcher}(", parameters, "):")]
    if any(variant.wide_index for variant in code.variants):
        chosen = f"_index_type({', '.join(views)})"
        large = " or ".join(f"{extent} >= 2**30" for extent in code.products)
        lines += fold("    ", f"{index} = tl.int64 if {large} else {chosen}" if large else f"{index} = {chosen}")
    if any(variant.described for variant in code.variants):
        lines += fold("    ", f"{TILES} = _tile_processors({', '.join([index, *views])})")
    lines += _copies(code, names, index)
    alike = len({variant.scratch for variant in code.variants}) == 1
    scratch = _scratch(code.variants[0]) if alike else scope.name("scratch")
    own = (integers if passes_integers and not same else None, None if alike else scratch)
    lines += [] if alike else fold("    ", f"{scratch} = {_scratch(code.variants[0])}")
    lines += _choice(code, names, (plan, index), own)
    if same and passes_integers:
        lines.append(_integer_line(code, code.variants[0], integers, names, 4))
    lines.append(_launch_call(code, names, [plan, tuple_text(views), integers if passes_integers else "()"], scratch))
    return "\n".join(lines)


def _copies(code: KernelCode, names: KernelNames, index: str) -> list[str]:
    """Starts over with copies of what descriptors cannot address as it lies in memory."""
    found = next((variant.copies for variant in code.variants if variant.copies is not None), None)
    if found is None:
        return []
    copied, others = (
        [local(v.name, names) for v in code.kernel.views if (v.name in found.views) is known] for known in (True, False)
    )
    places = [str(place) for place, view in enumerate(code.kernel.views) if view.name in found.views]
    test = (
        f"{found.condition} and _rows_to_align({tuple_text(copied)}, _tile_processors({', '.join([index, *others])}))"
    )
    views, scalars = ([local(each.name, names) for each in part] for part in (code.kernel.views, code.kernel.scalars))
    sizes = [f"{name}={name}" for name in names.launch.sizes.values()]
    parts = [names.launcher, tuple_text(views), tuple_text(places), *([tuple_text(scalars)] if scalars else []), *sizes]
    return [
        *fold("    ", f"if not {TILES} and {test}:"),
        *fold("        ", f"return _launch_aligned({', '.join(parts)})"),
    ]


def _assert_order(code: KernelCode) -> None:
    """All variants take all views, then sizes and strides, then their scratch, then all scalars."""
    views = [Pointer(view.name) for view in code.kernel.views]
    scalars = [ScalarArgument(scalar.name) for scalar in code.kernel.scalars]
    for variant in code.variants:
        behind = [*(ScratchPointer(scratch.name) for scratch in variant.scratch), *scalars]
        assert list(variant.arguments) == [*views, *_integers(variant), *behind], (code.kernel.name, variant.function)


def _integers(variant: Variant) -> tuple[Size | Stride, ...]:
    return tuple(each for each in variant.arguments if isinstance(each, Size | Stride))


def _scratch(variant: Variant) -> str:
    """The memory that a launch of the variant allocates; empty if it is none."""
    return tuple_text([f"({each.elements}, torch.{_scratch_dtype(each.dtype)})" for each in variant.scratch])


def _scratch_dtype(dtype: DType) -> str:
    """Kernels see floats of eight bits as bytes."""
    return "uint8" if dtype.is_float and dtype.bits == 8 else dtype_name(dtype)


def _launch_call(code: KernelCode, names: KernelNames, first: list[str], scratch: str) -> str:
    scalars = [local(scalar.name, names) for scalar in code.kernel.scalars]
    sizes = [names.launch.sizes[symbol] for symbol in row_sizes(code)]
    strides = _unit_strides(code, names)
    items = [*first, *([f"scalars={_tuple(scalars)}"] if scalars else [])]
    items += [f"scratch={scratch}"] if code.scratch else []
    items += [f"sizes={_tuple(sizes)}", f"unit_strides={_tuple(strides)}"]
    return "\n".join(fold("    ", f"return _launch({', '.join(items)})"))


def _choice(
    code: KernelCode, names: KernelNames, locals_: tuple[str, str], own: tuple[str | None, str | None]
) -> list[str]:
    """The plan of each variant, the integers unless they are the same for all, the scratch if it differs."""
    (plan, index), (integers, scratch) = locals_, own
    lines: list[str] = []
    for variant in code.variants:
        indent = 4 if variant.condition is None and not lines else 8
        if variant.condition is not None:
            lines.append(f"    {'elif' if lines else 'if'} {variant.condition}:")
        elif lines:
            lines.append("    else:")
        lines.append(_plan_line(variant, names, (plan, index), indent))
        if integers is not None:
            lines.append(_integer_line(code, variant, integers, names, indent))
        if scratch is not None and variant.scratch != code.variants[0].scratch:
            lines += fold(" " * indent, f"{scratch} = {_scratch(variant)}")
        if variant.condition is None:
            break
    return lines


def _plan_line(variant: Variant, names: KernelNames, locals_: tuple[str, str], indent: int) -> str:
    plan, index = locals_
    blocks = [f'"{name}": {value}' for name, value in variant.constants]
    blocks += ['"enable_fp_fusion": False'] if variant.rounded else []
    blocks += [f'"INDEX": {index}'] if variant.wide_index else []
    tunings = [f"{name}=({t.warps}, {t.stages})" for name, t in (("cuda", variant.cuda), ("hip", variant.hip))]
    items = [names.device_function(variant), variant.grid, f"{{{', '.join(blocks)}}}", *tunings]
    return "\n".join(fold(" " * indent, f"{plan} = _Plan({', '.join(items)})"))


def _integer_line(code: KernelCode, variant: Variant, target: str, names: KernelNames, indent: int) -> str:
    """Sizes and strides, which arrays of one form have in common."""
    items = _integer_items(code, _integers(variant), names)
    return collection(f"{target} = (", items, indent=indent)


def _integer_items(code: KernelCode, integers: Sequence[Size | Stride], names: KernelNames) -> list[str]:
    """All strides of a view in a row are written `*x.stride()`."""
    items: list[str] = []
    for position, each in enumerate(integers):
        if isinstance(each, Size):
            items.append(names.launch.argument(each))
            continue
        before = [Stride(each.view, axis) for axis in range(each.axis)]
        if list(integers[position - len(before) : position]) == before and before:
            items[-1] = f"*{local(each.view, names)}.stride(){_leading(each, code)}"
        else:
            items.append(f"{local(each.view, names)}.stride({each.axis})")
    return items


def _leading(last: Stride, code: KernelCode) -> str:
    rank = next(view.rank for view in code.kernel.views if view.name == last.view)
    return "" if last.axis + 1 == rank else f"[:{last.axis + 1}]"


def _unit_strides(code: KernelCode, names: KernelNames) -> list[str]:
    """The innermost strides that some device function takes."""
    innermost = {(view.name, view.rank - 1) for view in code.kernel.views}
    taken = (argument for variant in code.variants for argument in variant.arguments if isinstance(argument, Stride))
    chosen = (names.launch.argument(stride) for stride in taken if (stride.view, stride.axis) in innermost)
    return [string(name) for name in dict.fromkeys(chosen)]


def local(parameter: str, names: KernelNames) -> str:
    """The name of a kernel parameter inside launchers and wrappers."""
    name = names.launch.parameters[parameter]
    return f"{name}_2" if name in MODULE_LEVEL or name in names.functions else name


def _tuple(items: Sequence[str]) -> str:
    return tuple_text(items) if items else "()"


# --------------------------------------------------------------------------------------------------------- declaration
def declaration(code: KernelCode, names: KernelNames) -> str:
    items = [string(code.kernel.name), _field("views", [_view(view, names) for view in code.kernel.views])]
    items.append(f"launch={names.launcher}")
    if code.kernel.scalars:
        scalars = [f"({string(scalar.name)}, {string(dtype_name(scalar.dtype))})" for scalar in code.kernel.scalars]
        items.append(_field("scalars", scalars))
        planned = planned_scalars(code, names)
        if planned:
            places = [place for place, scalar in enumerate(code.kernel.scalars) if scalar.name in planned]
            items.append(f"planned={_tuple([str(place) for place in places])}")
    if code.requirements:
        items.append(_field("requirements", [_requirement(fact, code, names) for fact in code.requirements]))
    if code.covered:
        items.append(_field("covered", [string(name) for name in sorted(code.covered)]))
    if code.overlap != "refuse":
        items.append(f"overlap={string(code.overlap)}")
    flat = f"{names.declaration} = _Kernel({', '.join(items)})"
    if len(flat) <= LINE_LENGTH and "\n" not in flat:
        return flat
    return f"{names.declaration} = _Kernel(\n" + "".join(f"    {item},\n" for item in items) + ")"


def _field(name: str, items: Sequence[str]) -> str:
    """A tuple among the arguments of a declaration; a comma follows it."""
    if any("\n" in item for item in items):
        return f"{name}=(\n" + "".join(f"        {item},\n" for item in items) + "    )"
    return collection(f"{name}=(", items, "),", indent=4).strip().removesuffix(",")


def _view(view: View, names: KernelNames) -> str:
    shape = [_extent(extent, names) for extent in view.shape]
    items = [string(view.name), string(dtype_name(view.dtype)), _tuple(shape), string(view.direction)]
    if view.strides is not None:
        items.append(f"strides={_tuple([_stride(stride, names) for stride in view.strides])}")
    if view.alias:
        items.append(f"alias={string(view.alias)}")
    if view.noalias:
        items.append("noalias=True")
    return f"_View({', '.join(items)})"


def _extent(extent: Polynomial, names: KernelNames) -> str:
    atom = extent.atom
    return string(names.launch.sizes[atom.name]) if isinstance(atom, Symbol) else str(extent.constant)


def _stride(stride: int | str | None, names: KernelNames) -> str:
    return string(names.launch.sizes.get(stride, stride)) if isinstance(stride, str) else str(stride)


def planned_scalars(code: KernelCode, names: KernelNames) -> list[str]:
    """Scalar parameters that grids, choices of variants, scratch memory and requirements depend on."""
    texts = [text for variant in code.variants for text in (variant.grid, variant.condition or "")]
    texts += [each.elements for each in code.scratch] + [each.expression for each in code.requirements]
    mentioned = set(re.findall(r"\w+", " ".join(texts)))
    return [scalar.name for scalar in code.kernel.scalars if names.launch.parameters[scalar.name] in mentioned]


def _requirement(fact: Requirement, code: KernelCode, names: KernelNames) -> str:
    scalars = [names.launch.parameters[each] for each in planned_scalars(code, names)]
    parameters = ", ".join([*scalars, *names.launch.sizes.values()])
    pair = [f"lambda {parameters}: {fact.expression}", string(fact.message)]
    return collection("(", pair, "),", indent=8).strip().removesuffix(",")


# ------------------------------------------------------------------------------------------------------------ wrappers
def wrappers(code: KernelCode, names: KernelNames) -> list[str]:
    public = names.public
    host = [
        _wrapper(code, names, name, "_host_call", name == public.host_out)
        for name in (public.host, public.host_out)
        if name
    ]
    pair = [name for name in (public.device, public.device_out, *(names.private_device or ())) if name]
    writing = (public.device_out, names.private_device and names.private_device[1])
    return host + [_wrapper(code, names, name, "_device_call", name in writing) for name in pair]


def _wrapper(code: KernelCode, names: KernelNames, name: str, target: str, out_form: bool) -> str:
    keywords = [] if out_form else [names.launch.sizes[symbol] for symbol in output_symbols(code.kernel.views)]
    parameters = [
        local(parameter.name, names)
        for parameter in code.kernel.parameters
        if out_form or not isinstance(parameter, View) or parameter.direction != "Out"
    ]
    parameters += ["*", *(f"{size}=None" for size in keywords)] if keywords else []
    arrays = [_array(view, names, out_form) for view in code.kernel.views]
    items = [names.declaration, tuple_text(arrays)]
    if code.kernel.scalars:
        items.append(tuple_text([local(scalar.name, names) for scalar in code.kernel.scalars]))
    items += [f"{size}={size}" for size in keywords]
    result = "" if out_form or not any(view.direction == "Out" for view in code.kernel.views) else "return "
    lines = [call(f"def {name}(", parameters, "):"), _wrapper_docstring(code, target, out_form)]
    return "\n".join([*lines, *fold("    ", f"{result}{target}({', '.join(items)})")])


def _prepare(code: KernelCode, names: KernelNames) -> str:
    """The function that binds arguments; the outputs and their extents are keywords."""
    given = [each for each in code.kernel.parameters if not isinstance(each, View) or each.direction != "Out"]
    sizes = [names.launch.sizes[symbol] for symbol in output_symbols(code.kernel.views)]
    parameters = [
        *(local(each.name, names) for each in given),
        "*",
        "outputs=None",
        *(f"{size}=None" for size in sizes),
    ]
    items = [names.declaration, tuple_text([_array(view, names, out_form=False) for view in code.kernel.views])]
    if code.kernel.scalars:
        items.append(tuple_text([local(scalar.name, names) for scalar in code.kernel.scalars]))
    items += ["outputs=outputs", *(f"{size}={size}" for size in sizes)]
    head = call(f"def {names.prepare}(", parameters, "):")
    return "\n".join([head, *fold("    ", f"return _prepare({', '.join(items)})")])


def _array(view: View, names: KernelNames, out_form: bool) -> str:
    return "None" if view.direction == "Out" and not out_form else local(view.name, names)


def _wrapper_docstring(code: KernelCode, target: str, out_form: bool) -> str:
    kind = "NumPy arrays" if target == "_host_call" else "Device arrays (torch, CuPy)"
    outputs = [view_text(view) for view in code.kernel.views if view.direction == "Out"]
    updated = [view.name for view in code.kernel.views if view.direction == "InOut"]
    written = [view.name for view in code.kernel.views if view.direction != "In"]
    if out_form:
        return f'    """{kind}; writes {", ".join(written)}."""'
    parts = [f"returns {', '.join(outputs)}"] if outputs else []
    parts += [f"updates {', '.join(updated)}"] if updated else []
    text = f"{kind}; {'; '.join(parts)}." if parts else f"{kind}."
    if len(text) > 106:
        text = f"{kind}; returns {', '.join(view.name for view in code.kernel.views if view.direction == 'Out')}."
    return f'    """{text}"""'


def view_text(view: View) -> str:
    """`x[M, N] f32`."""
    return f"{view.name}[{', '.join(map(repr, view.shape))}] {view.dtype.name}"


def needs_size_keywords(code: KernelCode) -> bool:
    return bool(output_symbols(code.kernel.views))


def symbols(code: KernelCode) -> list[str]:
    return list(dict.fromkeys(symbol for view in code.kernel.views for symbol in view_symbols(view)))
