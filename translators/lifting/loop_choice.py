"""Which free axes of a store become loops; the others are axes of tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from translators.algebra.polynomial import Polynomial
from translators.lifting.views import Viewed
from translators.tile.expression import Axis, Expression, walk

Axes = tuple[Axis, ...]


def loop_axes(viewed: Viewed, looped: Collection[Axis] = ()) -> Axes:
    """The free axes that become loops (also those `looped` anyway), in the order of the store's coordinates."""
    sink = viewed.sink
    free = set(sink.free)
    chosen: set[Axis] = free & set(looped)
    chosen |= sink.mask.axes & free
    nodes = list(walk(sink.value, sink.mask, *sink.carried))
    matrices = any(node.operation == "contract" for node in nodes)  # then rows are rows of a matrix, not points
    sums: list[set[Axis]] = []
    for node in nodes:
        match node.operation:
            case "reduce" if len(node.arguments) > 1:  # elements that are combined have one shape
                every = set.union(*(set(each.axes) for each in node.arguments))
                chosen |= _varying(node) & free if _varying(node) & free != free and not matrices else set()
                chosen |= {axis for axis in every & free if any(axis not in each.axes for each in node.arguments)}
            case "reduce" if _varying(node) & free != free and not matrices:
                chosen |= _varying(node) & free
            case "contract":
                lhs, rhs = node.arguments
                chosen |= (lhs.axes & rhs.axes & free) - set(node.attribute.axes)
            case "load":
                chosen |= _complicated(node.attribute.coordinates, free)
            case "index":
                sums.append(set(axes_of(node.attribute)) & free)
            case _:
                pass
    if sink.recurrences:
        chosen |= _rows(viewed, nodes, free) - _of_states(viewed, nodes)
        chosen |= {axis for each in sink.recurrences if each.condition for axis in each.condition.axes} & free
    for axis in (
        *sink.every_axis,
        *(bound for node in nodes if node.operation in ("reduce", "contract") for bound in node.attribute.axes),
    ):
        chosen |= {each for bound in (axis.begin, axis.end) for each in axes_of(bound)} & free
    for axes in sums:  # one of several axes may be that of a tensor, beside numbers that loops count
        chosen |= axes if len(axes - chosen) > 1 else set()
    ordered = [axis for axis in sink.axes if axis in chosen and axis not in _stored_axes(viewed)]
    ordered.extend(axis for coordinate in viewed.coordinates for axis in axes_of(coordinate) if axis in chosen)
    return _bounds_first(tuple(dict.fromkeys(ordered)))


def _bounds_first(axes: Axes) -> Axes:
    """The same order, but that a loop stands within those that its range varies with."""
    made: dict[Axis, None] = {}

    def add(axis: Axis) -> None:
        for bound in (axis.begin, axis.end):
            for outer in axes_of(bound):
                if outer in axes and outer not in made:
                    add(outer)
        made.setdefault(axis)

    for axis in axes:
        add(axis)
    return tuple(made)


def loop_orders(sinks: Sequence[Viewed], looped: Collection[Axis]) -> dict[frozenset[Axis], Axes]:
    """One order for each set of loops, so that stores share them: the order of a store that they all are coordinates
    of, if there is one.
    """
    orders: dict[frozenset[Axis], Axes] = {}
    for viewed in sinks:
        loops = loop_axes(viewed, looped)
        if set(loops) <= _stored_axes(viewed) or frozenset(loops) not in orders:
            orders[frozenset(loops)] = loops
    return orders


def _varying(node: Expression) -> set[Axis]:
    """The axes that a reduction varies with, by what it reduces or by its range."""
    bounds = (bound for axis in node.attribute.axes for bound in (axis.begin, axis.end))
    return {*node.axes, *(axis for bound in bounds for axis in axes_of(bound))}


def _rows(viewed: Viewed, nodes: Sequence[Expression], free: set[Axis]) -> set[Axis]:
    """With a recurrence: all axes but those that are the last coordinate wherever memory is reached."""
    places = [viewed.coordinates, *(node.attribute.coordinates for node in nodes if node.operation == "load")]
    inner = {axis for coordinates in places if coordinates for axis in axes_of(coordinates[-1])}
    outer = {axis for coordinates in places for each in coordinates[:-1] for axis in axes_of(each)}
    return free - (inner - outer)


def _of_states(viewed: Viewed, nodes: Sequence[Expression]) -> set[Axis]:
    """The axes along which a state is read as a whole."""
    own = {state.place: len(state.own) for state in viewed.sink.states}
    coordinates = (
        each for node in nodes if node.operation == "state" for each in node.arguments[: own[node.attribute]]
    )
    return {axis for each in coordinates for axis in axes_of(each.polynomial)}


def _stored_axes(viewed: Viewed) -> set[Axis]:
    return {axis for coordinate in viewed.coordinates for axis in axes_of(coordinate)}


def _complicated(coordinates: Sequence[Polynomial], free: set[Axis]) -> set[Axis]:
    """Axes of coordinates that are read from memory, or that several axes or several coordinates share."""
    found: set[Axis] = set()
    seen: set[Axis] = set()
    shifted = 0
    for coordinate in coordinates:
        axes = set(axes_of(coordinate))
        if any(isinstance(atom, Expression) for atom in coordinate.atoms()) or len(axes) > 1 or axes & seen:
            found |= axes
        if axes and coordinate.atom not in axes:
            shifted += 1
            found |= axes if shifted > 1 else set()
        seen |= axes
    return found & free


def axes_of(polynomial: Polynomial) -> Iterator[Axis]:
    for atom in polynomial.atoms():
        if isinstance(atom, Axis):
            yield atom
        elif isinstance(atom, Expression):
            yield from sorted(atom.axes, key=lambda axis: axis.serial)
