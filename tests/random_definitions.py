"""Compile-time values and helpers of more kinds for random programs: constants, constexprs, enums, effects."""

from __future__ import annotations

from random_expressions import FLOATS, Axis, Context, Term, aligned, rounded
from random_shapes import free_axes, new_view
from random_stages import Stage, Writer

DTYPES = ("f32", "i32", "f32", "i64", "bf16", "f16", "i8", "u8", "f64", "u32")


def _dtype(writer: Writer) -> str:
    return writer.expressions.pick(DTYPES)


# --------------------------------------------------------------------------------------------------------- compile time
def specialised(writer: Writer, context: Context) -> None:
    """A branch that a compile-time parameter decides; the other one may say anything."""
    dtype, name = _dtype(writer), writer.fresh("v")
    shape = context.shape if writer.chance(0.6) else ()
    kind = writer.expressions.pick(["bool", "int", "enum", "module"])
    if kind == "enum":
        mode = writer.enumeration("A", "B", "C")
        parameter = writer.constexpr(mode, f"{mode}.A", writer.expressions.pick(["A", "B", "C"]))
        conditions = [f"{parameter} == {mode}.A", f"{parameter} == {mode}.B"]
    elif kind == "bool":
        parameter = writer.constexpr("bool", "True", False)
        conditions = [parameter, f"not {parameter}"]
    elif kind == "int":
        parameter = writer.constexpr("int", "3", 5)
        conditions = [f"{parameter} > 4", f"{parameter} % 3 == 0"]
    else:
        constant = writer.constant(writer.expressions.pick(["True", "False"]))
        conditions = [constant, f"not {constant}"]
    inner = context.inner(context.axes)
    for keyword, condition in zip(("if", "elif"), conditions, strict=True):
        writer.emit(context, f"{keyword} {condition}:")
        writer.emit(inner, f"{name} = {writer.expressions.expression(inner, dtype, shape, 2).text}")
    writer.emit(context, "else:")
    writer.emit(inner, f"{name} = {writer.expressions.expression(inner, dtype, shape, 2).text}")
    context.terms.append(Term(name, dtype, shape))


def compile_time_number(writer: Writer, context: Context) -> None:
    """A number that a parameter or the file gives, beside a value, as a bound of a loop, or as an extent."""
    dtype = _dtype(writer)
    shape = context.shape if writer.chance(0.6) else ()
    value = writer.expressions.expression(context, dtype, shape, 2)
    if dtype in FLOATS:
        number = writer.expressions.pick([writer.constant("3.0"), writer.constexpr("float", "2.0", 4.0)])
    else:
        number = writer.expressions.pick([writer.constant("2 + 3"), writer.constexpr("int", "2", 4)])
    form = writer.expressions.pick(["value", "value", "loop", "extent"])
    if form == "loop" and not context.ordered and dtype not in FLOATS:
        carry = writer.fresh("c")
        writer.emit(context, f"{carry} = {value.text}")
        writer.emit(context, f"for {writer.fresh('j')} in range({number} - 1):")
        inner = context.inner(context.axes, ordered=True)
        writer.emit(inner, f"{carry} = {carry} * 3 + {number}")
        context.terms.append(Term(carry, dtype, shape))
    elif form == "extent" and dtype not in FLOATS:
        filled = f"I.reduce.sum(I.full(({number},), 2, dtype=I.i32), axis=0)"
        writer.define(context, Term(filled, "i32", (), 20))
    else:
        bound = None if value.bound is None else rounded(value.bound * 5, dtype)
        writer.define(context, Term(f"({value.text} {writer.expressions.pick('+-*')} {number})", dtype, shape, bound))


def helper_of_constants(writer: Writer, context: Context) -> None:
    """A helper that is given a compile-time condition, and captures a constant of the file."""
    dtype = _dtype(writer)
    shape = context.shape if writer.chance(0.6) else ()
    number = writer.constant("2.0" if dtype in FLOATS else "3")
    flag = writer.expressions.pick(["True", "False", writer.constexpr("bool", "False", True)])
    helper = writer.helper("v, twice", "if twice:", f"    return v * {number}", f"return v - {number}")
    value = writer.expressions.expression(context, dtype, shape, 2)
    bound = None if value.bound is None else rounded(value.bound * 2 + 3, dtype)
    writer.define(context, Term(f"{helper}({value.text}, {flag})", dtype, shape, bound))


# -------------------------------------------------------------------------------------------------------------- helpers
def writing_helper(writer: Writer, context: Context) -> None:
    """A helper with an effect: it stores what it is given, perhaps only under a condition, and returns nothing."""
    if context.ordered:
        return
    free = free_axes(context)
    if len(free) > 1:
        return
    dtype = _dtype(writer)
    variables, symbols = [str(a.variable) for a in context.fixed], tuple(a.symbol for a in context.fixed)
    value = writer.expressions.expression(context, dtype, context.shape, 2)
    for axis in free:
        writer.require(axis.symbol)
    items = [f"p{at}" for at in range(len(variables))] + (["d"] if free else [])
    given = [*variables, *(axis.domain for axis in free)]
    parameters = ", ".join(["target", *items, "v", "go"])
    place = ", ".join(items) or "()"
    form = writer.expressions.pick(["plain", "early", "branch"])
    lines = {
        "plain": (f"target[{place}] = v", "return"),
        "early": ("if not go:", "    return", f"target[{place}] = v"),
        "branch": ("if go:", f"    target[{place}] = v", "else:", f"    target[{place}] = v + v"),
    }[form]
    helper = writer.helper(parameters, *lines)
    target = new_view(writer, "Out" if form == "plain" else "InOut", dtype, (*symbols, *context.shape), bound=4)
    go = writer.expressions.expression(context, "bool", (), 2).text
    writer.emit(context, f"{helper}({', '.join([target.name, *given, value.text, go])})")


def reading_helper(writer: Writer, context: Context) -> None:
    """A helper that is given a view, and a domain or makes one itself."""
    if len(context.shape) != 1:
        return
    (axis,) = free_axes(context)
    writer.require(axis.symbol)
    dtype = _dtype(writer)
    source = new_view(writer, "In", dtype, (axis.symbol,), bound=4)
    bound = 4 if dtype in FLOATS else None
    form = writer.expressions.pick(["given", "own", "reverse"])
    if form == "given":
        helper = writer.helper("x, d", "return x[d]")
        text = f"{helper}({source.name}, {axis.domain})"
    elif form == "reverse":
        helper = writer.helper("x, i", "return x[x.shape[0] - 1 - i]")
        text = f"{helper}({source.name}, I.indices({axis.domain}))"
    else:
        helper = writer.helper("x", "d = I.domain(0, x.shape[0])", "return x[d]")
        text = f"{helper}({source.name})"
        if writer.chance(0.5):
            reduce = writer.helper("x", "d = I.domain(0, x.shape[0])", "return I.reduce.max(x[d], axis=0)")
            writer.define(context, Term(f"{reduce}({source.name})", dtype, (), bound))
            return
    writer.define(context, Term(text, dtype, context.shape, bound))


def looping_helper(writer: Writer, context: Context) -> None:
    """A helper with a loop of its own, left early."""
    if context.ordered:
        return
    dtype = _dtype(writer)
    shape = context.shape if writer.chance(0.5) else ()
    step = "2.0" if dtype in FLOATS else "2"
    lines = ["for j in range(3):", "    if stop and j > 0:", "        break", f"    v = v * {step}", "return v, j_"]
    lines = ["j_ = I.cast(0, I.i32)", *lines[:4], "    j_ += 1", lines[4]]
    helper = writer.helper("v, stop", *lines)
    value = writer.expressions.expression(context, dtype, shape, 2)
    stop = writer.expressions.expression(context, "bool", (), 2)
    name, count = writer.fresh("v"), writer.fresh("v")
    writer.emit(context, f"{name}, {count} = {helper}({value.text}, {stop.text})")
    context.terms += [Term(name, dtype, shape), Term(count, "i32")]


def early_names(writer: Writer, context: Context) -> None:
    """Names defined in the branches that continue, annotated and several at once."""
    if not context.ordered or not context.axes:
        return
    dtype, first, second = _dtype(writer), writer.fresh("v"), writer.fresh("v")
    condition = writer.expressions.expression(context, "bool", (), 2)
    writer.emit(context, f"if {condition.text}:")
    inner = context.inner(context.axes, ordered=True)
    writer.emit(inner, writer.expressions.pick(["continue", "break"]))
    writer.emit(context, "else:")
    writer.emit(inner, f"{first} = {second} = {writer.expressions.expression(inner, dtype, (), 2).text}")
    zero = "0.0" if dtype in FLOATS else "0"
    third = writer.fresh("v")
    writer.emit(context, f"{third}: I.{dtype} = {zero}")
    writer.emit(context, f"{third} += {first}")
    writer.emit(context, f"{first}, {third} = {third}, {second}")
    context.terms += [Term(first, dtype), Term(third, dtype)]


def shared_helper(writer: Writer, context: Context) -> None:
    """One helper called at several ranks: with a scalar and with a tensor."""
    dtype = _dtype(writer)
    helper = writer.helper("a, b=2, *, c=1" if dtype not in FLOATS else "a, b=2.0, *, c=1.0", "return a * b + c")
    scalar = writer.expressions.expression(context, dtype, (), 2)
    first = writer.define(context, Term(f"{helper}({scalar.text})", dtype))
    shape = context.shape
    value = writer.expressions.expression(context, dtype, shape, 2)
    given = writer.expressions.pick([f"b={first.text}", first.text, f"c={first.text}, b={first.text}"])
    writer.define(context, Term(f"{helper}({aligned(value, shape)}, {given})", dtype, shape))


DEFINITION_STAGES: tuple[Stage, ...] = (
    specialised, specialised, compile_time_number, helper_of_constants, writing_helper, writing_helper, reading_helper,
    looping_helper, early_names, shared_helper,
)  # fmt: skip

__all__ = ["DEFINITION_STAGES", "Axis"]
