"""Reductions, scans and contractions as Intent expressions, and the functions that combine elements."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from translators.algebra.polynomial import Polynomial
from translators.intent_source import write as w
from translators.intent_source.write import SourceFunction, Text
from translators.lifting.axis_order import in_memory_order
from translators.lifting.sinks import Residue
from translators.lifting.spelled import Axes, Spelled, dtype_text
from translators.tile.expression import Combine, Expression, walk

if TYPE_CHECKING:
    from translators.lifting.spelling import Speller

REDUCTIONS = {"sum": "sum", "max": "max", "max_num": "max", "any": "any", "all": "all"}


def reduction(speller: Speller, node: Expression) -> Spelled:
    kind = node.attribute.kind
    if kind in ("generic", "product"):
        return _component(speller, node)
    body = speller.spell(node.arguments[0])
    over, axes = _reduced(node, body.axes)
    if kind in ("arg_max", "arg_min"):
        return Spelled(_position(speller, node, body.text, over), axes)
    if kind in ("min", "min_num"):
        return Spelled(_opposite(node, w.call("I.reduce.max", _opposite(node, body.text), f"axis={over}")), axes)
    if kind not in REDUCTIONS:
        raise Residue(f"a reduction '{kind}' has no spelling in the language")
    made = w.call(f"I.reduce.{REDUCTIONS[kind]}", body.text, f"axis={over}")
    if kind == "sum" and node.dtype.bits < 32:
        made = w.call("I.cast", made, dtype_text(node.dtype))
    return Spelled(made, axes)


def _reduced(node: Expression, axes: Axes) -> tuple[str, Axes]:
    """The positions of the reduced axes, and the other axes."""
    if set(node.attribute.axes) - set(axes):
        raise Residue("a reduction of a value that does not vary along it")
    positions = [str(position) for position, axis in enumerate(axes) if axis in node.attribute.axes]
    over = positions[0] if len(positions) == 1 else w.as_tuple(positions)
    return over, tuple(axis for axis in axes if axis not in node.attribute.axes)


def _opposite(node: Expression, value: Text) -> Text:
    """The order of numbers turned round: of integers by their complement, as the least one has no negative."""
    return w.unary("-" if node.arguments[0].dtype.is_float else "~", value)


def _position(speller: Speller, node: Expression, body: Text, over: str) -> Text:
    """A coordinate of the reduced axis, which is counted from its begin."""
    (axis,) = node.attribute.axes
    value = _opposite(node, body) if node.attribute.kind == "arg_min" else body
    made = w.subscript(w.call("I.arg_reduce.max", value, f"axis={over}"), "1")
    return made if axis.begin == Polynomial() else w.binary("+", made, speller.size(axis.begin))


def scan(speller: Speller, node: Expression) -> Spelled:
    reduction, (axis,) = node.attribute, node.attribute.axes
    body = speller.spell(node.arguments[0])
    if axis not in body.axes:
        raise Residue("a scan of a value that does not vary along it")
    flags = [f"axis={body.axes.index(axis)}"]
    flags.extend(("inclusive=False",) if reduction.result else ())
    flags.extend(("reverse=True",) if reduction.reverse else ())
    if reduction.kind in ("min", "min_num"):
        made = _opposite(node, w.call("I.cummax", _opposite(node, body.text), *flags))
    else:
        made = w.call("I.cumsum" if reduction.kind == "sum" else "I.cummax", body.text, *flags)
    if reduction.kind == "sum" and node.dtype.bits < 32:
        made = w.call("I.cast", made, dtype_text(node.dtype))
    return Spelled(made, body.axes)


def contraction(speller: Speller, node: Expression) -> Spelled:
    lhs, rhs = (_operand(speller, each) for each in node.arguments)
    bound = node.attribute.axes
    if not set(bound) <= set(lhs.axes) & set(rhs.axes):
        raise Residue("a contraction along an axis that only one operand has")
    batch = [axis for axis in lhs.axes if axis in rhs.axes and axis not in bound]
    if set(lhs.axes) == set(rhs.axes) == set(bound):
        return _inner_product(speller, node, lhs, rhs)
    accumulator = f"acc_dtype={dtype_text(node.dtype)}"
    own = (axis for axis in rhs.axes if axis not in lhs.axes)
    axes = (*(axis for axis in lhs.axes if axis not in bound), *own)
    if len(lhs.axes) == len(rhs.axes) == 2 and len(bound) == 1 and not batch:
        flags = [accumulator]
        if lhs.axes[0] is bound[0]:
            flags.append("transpose_lhs=True")
        if rhs.axes[1] is bound[0]:
            flags.append("transpose_rhs=True")
        return Spelled(w.call("I.matmul", lhs.text, rhs.text, *flags), axes)
    pairs = {axis: w.as_tuple([str(lhs.axes.index(axis)), str(rhs.axes.index(axis))]) for axis in (*bound, *batch)}
    flags = [f"reduce={w.as_tuple([pairs[axis] for axis in bound])}"]
    flags.extend([f"batch={w.as_tuple([pairs[axis] for axis in batch])}"] if batch else [])
    return Spelled(w.call("I.contract", lhs.text, rhs.text, *flags, accumulator), axes)


def _inner_product(speller: Speller, node: Expression, lhs: Spelled, rhs: Spelled) -> Spelled:
    """A number, as a sum; a contraction would be a tensor."""
    axes = lhs.axes
    factors = [
        text if each.dtype == node.dtype else w.call("I.cast", text, dtype_text(node.dtype))
        for each, text in zip(node.arguments, (lhs.text, speller.arranged(rhs, axes)), strict=True)
    ]
    places = [str(place) for place, _ in enumerate(axes)]
    over = places[0] if len(places) == 1 else w.as_tuple(places)
    return Spelled(w.call("I.reduce.sum", w.binary("*", *factors), f"axis={over}"), ())


def _operand(speller: Speller, node: Expression) -> Spelled:
    """An operand of a contraction keeps the order of its own memory."""
    order = speller.frame.order
    speller.frame.order = {axis: position for position, axis in enumerate(in_memory_order([], (node,)))}
    spelled = speller.spell(node)
    speller.frame.order = order
    return spelled


# ----------------------------------------------------------------------------------------------- functions that combine
def _component(speller: Speller, node: Expression) -> Spelled:
    """One result of a reduction by a function of elements."""
    text, axes, arity = combined(speller, node)
    return Spelled(text if arity == 1 else w.subscript(text, str(node.attribute.result)), axes)


def combined(speller: Speller, node: Expression) -> tuple[Text, Axes, int]:
    """All results of the reduction that the node is a result of, their axes, and how many they are."""
    combine: Combine | None = node.attribute.combine
    spelled = [speller.spell(each) for each in node.arguments]
    every = speller.sorted_axes({axis for each in spelled for axis in each.axes})
    over, axes = _reduced(node, every)
    bodies = [str(_whole(speller, each, every)) for each in node.arguments]
    if combine is None:
        speller.function(SourceFunction("product", ("left", "right"), ("return left * right",)))
        return w.call("I.reduce", bodies[0], f"axis={over}", "identity=1", "combine=product"), axes, 1
    identities = [str(w.literal(each)) for each in speller.identities[combine]]
    single = combine.arity == 1
    items = bodies[0] if single else w.as_tuple(bodies)
    identity = identities[0] if single else w.as_tuple(identities)
    name = function_name(speller, combine)
    made = w.call("I.reduce", items, f"axis={over}", f"identity={identity}", f"combine={name}")
    return made, axes, combine.arity


def _whole(speller: Speller, node: Expression, axes: Axes) -> Text:
    """The value with every one of these axes: what is reduced together has one shape."""
    spelled = speller.spell(node)
    if spelled.axes == axes:
        return spelled.text
    if not spelled.axes:
        shape = w.as_tuple([str(speller.size(axis.extent)) for axis in axes])
        value = w.literal(node.attribute) if node.operation == "constant" else spelled.text
        return w.call("I.full", shape, value, dtype_text(node.dtype))
    if set(spelled.axes) == set(axes):
        return speller.arranged(spelled, axes)
    raise Residue("a reduction of several values of different shapes")


def function_name(speller: Speller, combine: Combine) -> str:
    """The function of the lifted file that computes what the combine does; it is written once."""
    if combine not in speller.combines:
        speller.combines[combine] = speller.function(_function(speller, combine))
    return speller.combines[combine]


def _function(speller: Speller, combine: Combine) -> SourceFunction:
    single = combine.arity == 1
    parameters = combine.parameters if single else ("left", "right")
    kept = speller.frame, speller.counts, speller.lines, speller.names
    try:
        speller.begin_function(combine.results, (*parameters, *combine.parameters))
        for node in walk(*combine.results):
            if node.operation == "argument":
                speller.frame.spelled[node] = Spelled(Text(combine.parameters[node.attribute]))
        speller.frame.wanted.update(zip(combine.results, _names_of_results(combine), strict=True))
        results = [_result(speller, node, single) for node in combine.results]
        body = (*(() if single else _taken_apart(combine)), *speller.lines, f"return {', '.join(results)}")
    finally:
        speller.frame, speller.counts, speller.lines, speller.names = kept
    return SourceFunction(combine.name, parameters, body)


def _taken_apart(combine: Combine) -> tuple[str, str]:
    names, arity = combine.parameters, combine.arity
    return f"{', '.join(names[:arity])} = left", f"{', '.join(names[arity:])} = right"


def _names_of_results(combine: Combine) -> list[str]:
    """What both elements' names begin with."""
    pairs = zip(combine.parameters[: combine.arity], combine.parameters[combine.arity :], strict=True)
    return [_beginning(*pair).rstrip("_") or "combined" for pair in pairs]


def _beginning(first: str, second: str) -> str:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return "".join(one for one, _ in alike)


def _result(speller: Speller, node: Expression, single: bool) -> str:
    """The name of a result, or its text if it is the only one."""
    speller.name_parts(node, "")
    if not single and node not in speller.frame.spelled:
        speller.name(node, "")
    return str(speller.spell(node).text)
