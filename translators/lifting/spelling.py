"""A lifted kernel as Intent statements: which axes are loops, which are tensor axes, what gets a name.

A free axis becomes a loop of `I.parallel` if a reduction is used along with other axes, if both operands of a
contraction have
it, or if a coordinate is more than a shifted axis; the other axes are axes of tensors, in the order in which memory
has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from intent import dtypes as d
from intent.records import dataclass, field, replace
from translators.algebra.polynomial import Polynomial, Symbol
from translators.intent_source import write as w
from translators.intent_source.write import SourceFunction, Text
from translators.lifting.axis_order import in_memory_order, stored_order
from translators.lifting.loop_choice import axes_of, loop_axes, loop_orders
from translators.lifting.names import Names, domain_name
from translators.lifting.sinks import Residue
from translators.lifting.spelled import Axes, Spelled, dtype_text
from translators.lifting.spelled_places import index, items
from translators.lifting.spelled_reductions import REDUCTIONS, combined, contraction, reduction, scan
from translators.lifting.statement_groups import Group, united
from translators.lifting.statement_uses import check_conditions, loads_of, places_read, read_before_stored, uses
from translators.lifting.views import Viewed
from translators.logical.types import View
from translators.tile.expression import Axis, Combine, Expression, Place, walk

INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "and": "&", "or": "|", "xor": "^", "shift_left": "<<",
    "shift_right": ">>", "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">",
    "greater_equal": ">=", "power": "**",
}  # fmt: skip
_CALLED = frozenset(
    (
        "abs", "exp", "exp2", "log", "log1p", "lgamma", "sin", "asin", "cos", "floor", "erf", "erfc", "i0", "rsqrt",
        "sqrt", "sigmoid", "tanh", "maximum", "minimum", "maximum_num", "minimum_num",
    )
)  # fmt: skip


@dataclass(slots=True)
class Frame:
    """Where expressions are being spelled: the loops around, the order of tensor axes, the names given so far, and
    those that some expressions should get.
    """

    loops: Axes
    order: dict[Axis, int]
    spelled: dict[Expression, Spelled] = field(default_factory=dict)
    wanted: dict[Expression, str] = field(default_factory=dict)


@dataclass(slots=True)
class Speller:
    names: Names
    sizes: dict[str, str] = field(default_factory=dict)  # size -> the name it is read into
    extents: dict[Polynomial, str] = field(default_factory=dict)  # an extent that has a name of its own
    scalars: set[str] = field(default_factory=set)
    local_domains: set[Axis] = field(default_factory=set)
    domains: dict[Axis, str] = field(default_factory=dict)
    variables: dict[Axis, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    used_sizes: dict[str, None] = field(default_factory=dict)
    frame: Frame = field(default_factory=lambda: Frame((), {}))
    counts: Counter[Expression] = field(default_factory=Counter)
    positions: set[Expression] = field(default_factory=set)  # integers that are nothing but coordinates
    states: dict[tuple[object, int], tuple[str, Axes, Axes]] = field(default_factory=dict)  # name, own axes, all axes
    identities: dict[Combine, tuple[bool | int | float, ...]] = field(default_factory=dict)
    combines: dict[Combine, str] = field(default_factory=dict)  # the functions that they are
    functions: dict[str, SourceFunction] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------------------------ sinks
    def kernel(self, sinks: Sequence[Viewed]) -> tuple[str, ...]:
        """The statements of the body, after what they need of sizes and domains."""
        groups: list[Group] = []
        looped = {axis for viewed in sinks for axis in loop_axes(viewed)}  # a loop that one statement needs serves all
        orders = loop_orders(sinks, looped)
        for viewed in sinks:
            loops, recurrences = orders[frozenset(loop_axes(viewed, looped))], viewed.sink.recurrences
            both = united(groups[-1].recurrences, recurrences) if groups and groups[-1].loops == loops else None
            if both is not None:
                groups[-1] = Group(loops, both, (*groups[-1].members, viewed))
            else:
                groups.append(Group(loops, recurrences, (viewed,)))
        stored: set[View] = set()
        for group in groups:
            self._check_untouched(group.members, stored)
            self._group(group)
            stored.update(viewed.memory for viewed in group.members)
        return tuple(self.lines)

    def _check_untouched(self, members: Sequence[Viewed], stored: set[View]) -> None:
        """Statements over other coordinates come later: they cannot read what was there before."""
        for viewed in members:
            for load in loads_of(viewed):
                if load.attribute.memory in stored:
                    raise Residue(f"'{load.attribute.memory.name}' is loaded and stored in different statements")

    def _group(self, group: Group) -> None:
        indent = "    " * self._open_loops(group.loops)
        for axis in self.local_domains:
            del self.domains[axis]
        self.local_domains.clear()
        self.frame = Frame(group.loops, {})
        self.counts, self.positions = uses(group.members)
        if group.recurrences:
            from translators.lifting.ordered_loops import OrderedLoops

            OrderedLoops(self, group, indent).run()
            return
        check_conditions(group.members)
        for _, alike in groupby(group.members, key=lambda viewed: viewed.sink.mask):
            self.stores(list(alike), indent)

    def subregions(self, viewed: Viewed, indent: str) -> None:
        """Domains whose bounds depend on a loop: statements within it."""
        nodes = walk(viewed.sink.value, viewed.sink.mask, *viewed.sink.carried)
        bound = (axis for node in nodes if node.operation in ("reduce", "contract") for axis in node.attribute.axes)
        without_end = {each.axis for each in viewed.sink.recurrences if each.condition is not None}
        for axis in (*viewed.sink.every_axis, *bound):
            if axis not in self.domains and axis not in without_end and axis not in self.frame.loops and varies(axis):
                self._subregion(axis, indent)

    def _subregion(self, axis: Axis, indent: str) -> None:
        if not {each for bound in (axis.begin, axis.end) for each in axes_of(bound)} <= set(self.frame.loops):
            raise Residue("a domain whose bounds depend on coordinates")
        self.domains[axis] = self.names.fresh("members")
        domain = w.call("I.domain", self.size(axis.begin), self.size(axis.end))
        self.lines.append(f"{indent}{self.domains[axis]} = {domain}")
        self.local_domains.add(axis)

    def _open_loops(self, loops: Axes) -> int:
        """A loop's range may depend on the loops around it."""
        depth = 0
        for axis in loops:
            self.frame = Frame(loops[:depth], {})
            self.variables[axis] = self.variables.get(axis) or self.names.fresh(self.variable_name(axis))
            low, high = self.size(axis.begin), self.size(axis.end)
            domain = w.call("I.parallel", w.call("I.domain", low, high))
            self.lines.append(f"{'    ' * depth}for {self.variables[axis]} in {domain}:")
            depth += 1
        return depth

    def variable_name(self, axis: Axis) -> str:
        size = axis.end.atom
        if not isinstance(size, Symbol):
            return "group"
        made = domain_name(self.sizes.get(size.name, size.name)).removesuffix("_domain")
        return made[:-1] if made.endswith("s") and len(made) > 2 else made

    def order(self, viewed: Viewed) -> None:
        """Tensor axes in the order of memory: the store's, then what loads say of the others."""
        placed: list[Axis] = [axis for each in viewed.coordinates for axis in stored_order(each)]
        placed = in_memory_order(placed, (viewed.sink.value, viewed.sink.mask, *viewed.sink.carried))
        for position, axis in enumerate(placed):
            self.frame.order.setdefault(axis, position)

    def stores(self, members: Sequence[Viewed], indent: str) -> None:
        """Stores where one condition holds."""
        for viewed in members:
            self.order(viewed)
            self.subregions(viewed, indent)
        mask = members[0].sink.mask
        if mask.operation != "constant":
            self.name_parts(mask, indent, itself=False)
            self.lines.append(f"{indent}if {self.spell(mask).text}:")
            indent += "    "
        named = dict(self.frame.spelled)
        for load in read_before_stored(members):
            self.name(load, indent)
        for viewed in members:
            self.store(viewed, indent)
        if mask.operation != "constant":
            self.frame.spelled = named  # names of a branch

    def store(self, viewed: Viewed, indent: str) -> None:
        """The assignment itself."""
        sink = viewed.sink
        for load in places_read(viewed):
            self.name_parts(load, indent)
        self.name_parts(sink.value, indent)
        spelled = self.spell(sink.value)
        place = self._place(viewed.memory, viewed.coordinates)
        value = self.arranged(spelled, place.axes, allow_broadcast=True)
        if not spelled.axes and sink.value.operation == "constant":
            value = w.literal(sink.value.attribute)
        self.lines.append(indent + self._assignment(viewed, place.text, value))

    def _assignment(self, viewed: Viewed, place: Text, value: Text) -> str:
        if viewed.sink.combine is not None:
            return self._update(viewed, value)
        read = (atom for each in viewed.coordinates for atom in each.atoms() if isinstance(atom, Expression))
        if not any(atom.axes - set(self.frame.loops) for atom in read):
            return f"{place} = {value}"
        places = self._items(viewed.memory, viewed.coordinates)
        return w.call("I.scatter_unique", viewed.memory.name, places, value).text

    def _update(self, viewed: Viewed, value: Text) -> str:
        """Points that may meet in one element."""
        function = {"add": "I.add", "max": "I.maximum", "min": "I.minimum"}.get(viewed.sink.combine or "")
        if function is None:
            raise Residue(f"an atomic '{viewed.sink.combine}' at places read from memory", viewed.sink.line)
        places = self._items(viewed.memory, viewed.coordinates)
        return w.call("I.scatter_reduce", viewed.memory.name, places, value, function).text

    def name_parts(self, root: Expression, indent: str, itself: bool = True) -> None:
        """Statements for what is used twice, and for reductions."""
        for node in walk(root, stop=self.frame.spelled.__contains__):
            if node is root and not itself:
                continue
            if node in self.frame.spelled or not self._deserves_name(node):
                continue
            if node is root and self.counts[node] == 1 and len(self._results(node)) == 1:
                continue
            self.name(node, indent)

    def name(self, node: Expression, indent: str) -> None:
        if _has_results(node):
            self._name_results(node, indent)
            return
        spelled = self.spell(node)
        name = self.names.fresh(self._value_name(node))
        if node in self.positions:
            spelled = Spelled(w.call("I.cast", spelled.text, "I.index"), spelled.axes)
        self.lines.append(f"{indent}{name} = {spelled.text}")
        self.frame.spelled[node] = Spelled(Text(name), spelled.axes)

    def _name_results(self, node: Expression, indent: str) -> None:
        """All results of one reduction that are used."""
        text, axes, arity = combined(self, node)
        nothing = self.names.fresh("unused") if "_" in self.names.taken else "_"  # a parameter may be called so
        targets = [nothing] * arity
        for position, result in self._results(node).items():
            targets[position] = self.names.fresh(self._value_name(result))
            self.frame.spelled[result] = Spelled(Text(targets[position]), axes)
        self.lines.append(f"{indent}{', '.join(targets)} = {text}")

    def _results(self, node: Expression) -> dict[int, Expression]:
        """The results of one reduction that are used, by position."""
        if not _has_results(node):
            return {0: node}
        return {each.attribute.result: each for each in self.counts if _is_result(each, node)}

    # ----------------------------------------------------------------------------------------------------- functions
    def function(self, made: SourceFunction) -> str:
        """The name of a function of the file, which is written once."""
        for name, known in self.functions.items():
            if replace(known, name=made.name) == made:
                return name
        name = self.names.fresh(made.name)
        self.functions[name] = replace(made, name=name)
        return name

    def begin_function(self, results: Sequence[Expression], parameters: Sequence[str]) -> None:
        """From here on, what is spelled is the body of a function of its own."""
        self.frame, self.lines, self.names = Frame((), {}), [], Names()
        self.names.reserve(parameters)
        self.counts = Counter(results)
        for node in walk(*results):
            self.counts.update(node.operands)

    def _deserves_name(self, node: Expression) -> bool:
        if node.dtype == d.index or node.operation in ("constant", "parameter", "index", "poison", "state", "argument"):
            return False
        if node.operation == "cast" and not any(each.operation == "load" for each in walk(node)):
            return False
        return node.operation in ("reduce", "contract") or self.counts[node] > 1

    def _value_name(self, node: Expression) -> str:
        stem = _stem(node)
        match node.operation:
            case _ if node in self.frame.wanted:
                return self.frame.wanted[node]
            case "load":
                name = node.attribute.memory.name
                return f"{name}_values" if _tensor_axes(node, self.frame.loops) else f"{name}_value"
            case "state":
                return self.states[node.attribute][0]
            case "reduce" if _has_results(node):
                return f"{_stem(node.arguments[node.attribute.result])}_combined"
            case "reduce":
                return f"{stem}_{REDUCTIONS.get(node.attribute.kind, node.attribute.kind)}"
            case "contract":
                return "product"
            case "scan":
                return f"{stem}_running"
            case "pointwise" if node.attribute[0] in _CALLED:
                return f"{node.attribute[0]}_{stem}"
            case "cast":
                inner = node.arguments[0]
                return f"{stem}_{node.dtype.name}" if inner.operation == "load" else f"{stem}_rounded"
            case "pointwise" if node.attribute[0] == "divide" and _is_sum(node.arguments[0]):
                return f"{stem}_mean"
            case _:
                return f"{stem}_term"

    # ------------------------------------------------------------------------------------------------------ expressions
    def spell(self, node: Expression) -> Spelled:
        found = self.frame.spelled.get(node)
        return found if found is not None else self._spell(node)

    def _spell(self, node: Expression) -> Spelled:
        match node.operation:
            case "constant":
                return Spelled(w.call("I.cast", w.literal(node.attribute), dtype_text(node.dtype)))
            case "parameter":
                self.scalars.add(node.attribute)
                return Spelled(Text(node.attribute))
            case "index":
                return self.index(node.attribute)
            case "load":
                return self._load(node)
            case "select":
                return self._select(node)
            case "cast":
                return self._cast(node)
            case "bitcast":
                inner = self.spell(node.arguments[0])
                return Spelled(w.call("I.bitcast", inner.text, dtype_text(node.dtype)), inner.axes)
            case "pointwise":
                return self._pointwise(node)
            case "reduce":
                return reduction(self, node)
            case "contract":
                return contraction(self, node)
            case "scan":
                return scan(self, node)
            case "state":
                return self._state(node)
            case "random_bits":
                seed, counter = map(self.spell, node.arguments)
                key = seed.text if node.arguments[0].dtype == d.u64 else w.call("I.cast", seed.text, "I.u64")
                return Spelled(w.call("I.random.bits", key, counter.text), counter.axes)
            case _:
                raise Residue(f"'{node.operation}' has no spelling in the language")

    def _operands(self, nodes: Sequence[Expression]) -> tuple[list[Text], Axes]:
        """Texts that align from the right, and the axes of their combination; literals take the others' type."""
        bare = any(node.operation != "constant" for node in nodes)
        spelled = [
            Spelled(w.literal(node.attribute)) if bare and node.operation == "constant" else self.spell(node)
            for node in nodes
        ]
        axes = self.sorted_axes({axis for each in spelled for axis in each.axes})
        return [self.arranged(each, axes) for each in spelled], axes

    def sorted_axes(self, axes: set[Axis]) -> Axes:
        return tuple(sorted(axes, key=lambda axis: (self.frame.order.get(axis, 1_000), axis.serial)))

    def arranged(self, spelled: Spelled, axes: Axes, allow_broadcast: bool = False) -> Text:
        """The value aligned to these axes: transposed if they differ in order, with new axes where it lacks some."""
        text, present = spelled.text, spelled.axes
        wanted = tuple(axis for axis in axes if axis in present)
        if wanted != present:
            permutation = tuple(present.index(axis) for axis in wanted)
            text = w.call("I.transpose", text, w.as_tuple(list(map(str, permutation))))
        if not wanted:
            return text
        first = axes.index(wanted[0])
        tail = axes[first:]
        if tail == wanted:
            return text
        return w.subscript(text, *(":" if axis in wanted else "None" for axis in tail))

    def _pointwise(self, node: Expression) -> Spelled:
        function = node.attribute[0]
        if function in ("less", "equal", "not_equal") and node.arguments[0].dtype == d.index:
            return self._comparison(function, node.arguments[0].polynomial - node.arguments[1].polynomial)
        texts, axes = self._operands(node.arguments)
        if function in INFIX:
            return Spelled(w.binary(INFIX[function], texts[0], texts[1]), axes)
        if function in _CALLED:
            return Spelled(w.call(f"I.{function}", *texts), axes)
        if function == "negative":
            return Spelled(w.unary("-", texts[0]), axes)
        if function == "not":
            return Spelled(w.unary("not ", texts[0]), axes)
        if function == "invert":
            return Spelled(w.unary("~", texts[0]), axes)
        if function == "truncated_divide" and not _is_negative(node.arguments[1].polynomial):
            below = w.binary("<", texts[0], w.literal(0))
            rounded = w.binary("//", w.unary("-", texts[0]), texts[1])
            return Spelled(w.call("I.select", below, w.unary("-", rounded), w.binary("//", *texts)), axes)
        if function in ("floor_divide", "remainder"):
            return Spelled(w.binary("//" if function == "floor_divide" else "%", texts[0], texts[1]), axes)
        raise Residue(f"'{function}' has no spelling in the language")

    def _comparison(self, function: str, difference: Polynomial) -> Spelled:
        """Terms with a minus sign go to the other side."""
        left = Polynomial(tuple(term for term in difference.terms if term[1] > 0))
        right = -Polynomial(tuple(term for term in difference.terms if term[1] < 0))
        if function == "less" and right.offset == 1 and right.constant is None:
            right, function = right - 1, "less_equal"
        first, second = self.index(left), self.index(right)
        axes = self.sorted_axes({*first.axes, *second.axes})
        texts = [self.arranged(each, axes) for each in (first, second)]
        return Spelled(w.binary(INFIX[function], *texts), axes)

    def _select(self, node: Expression) -> Spelled:
        condition, true, false = node.arguments
        if true.operation == "constant" and false.operation == "constant":
            texts, axes = self._operands((condition,))
            made = w.call("I.select", texts[0], w.literal(true.attribute), w.literal(false.attribute))
            return Spelled(w.call("I.cast", made, dtype_text(node.dtype)), axes)
        texts, axes = self._operands(node.arguments)
        return Spelled(w.call("I.select", *texts), axes)

    def _cast(self, node: Expression) -> Spelled:
        inner = node.arguments[0]
        while inner.operation == "cast" and inner.dtype.is_integer and inner.arguments[0].dtype == d.index:
            inner = inner.arguments[0]  # a coordinate does not wrap on its way
        spelled = self.spell(inner)
        return Spelled(w.call("I.cast", spelled.text, dtype_text(node.dtype)), spelled.axes)

    def _state(self, node: Expression) -> Spelled:
        """What a loop carries, at coordinates of its own axes (its first arguments)."""
        name, own, axes = self.states[node.attribute]
        renamed: dict[Axis, Axis] = {}
        for axis, argument in zip(own, node.arguments, strict=False):
            at = argument.polynomial.atom
            if not isinstance(at, Axis) or (at.begin, at.end) != (axis.begin, axis.end) or at in self.frame.loops:
                raise Residue(f"'{name}' is read at a part of its coordinates")
            renamed[axis] = at
        return Spelled(Text(name), tuple(renamed.get(axis, axis) for axis in axes))

    # ---------------------------------------------------------------------------------------------------------- memory
    def _load(self, node: Expression) -> Spelled:
        place = node.attribute
        if not isinstance(place, Place) or not isinstance(place.memory, View):
            raise Residue("a load whose address belongs to no array")
        spelled = self._place(place.memory, place.coordinates)
        if not node.arguments:
            return self._in_order(spelled)
        return self._gather(node, place)

    def _gather(self, node: Expression, place: Place) -> Spelled:
        assert isinstance(place.memory, View)
        spelled = self._place(place.memory, place.coordinates)
        mask, other = node.arguments
        valid = self.arranged(self.spell(mask), spelled.axes)
        parts = [Text(place.memory.name), Text(self._items(place.memory, place.coordinates)), Text(f"valid={valid}")]
        if other.operation != "poison":
            fill = (
                w.literal(other.attribute)
                if other.operation == "constant"
                else self.arranged(self.spell(other), spelled.axes)
            )
            parts.append(Text(f"fill={fill}"))
        return self._in_order(Spelled(w.call("I.gather", *parts), spelled.axes))

    def _in_order(self, spelled: Spelled) -> Spelled:
        axes = self.sorted_axes(set(spelled.axes))
        return Spelled(self.arranged(spelled, axes), axes)

    def _place(self, memory: View, coordinates: Sequence[Polynomial]) -> Spelled:
        texts, axes = items(self, memory.name, coordinates)
        return Spelled(w.subscript(Text(memory.name), *texts), axes)

    def _items(self, memory: View, coordinates: Sequence[Polynomial]) -> str:
        return w.as_tuple([str(text) for text in items(self, memory.name, coordinates)[0]])

    def domain(self, axis: Axis) -> str:
        if axis not in self.domains:
            size = axis.end.atom
            wanted = "coordinates"
            if isinstance(size, Symbol):
                wanted = domain_name(self.sizes.get(size.name, size.name))
            if varies(axis):
                raise Residue("a domain whose bounds depend on coordinates")
            self.domains[axis] = self.names.fresh(wanted)
        return self.domains[axis]

    # ------------------------------------------------------------------------------------------------------ coordinates
    def size(self, polynomial: Polynomial) -> Text:
        return self.index(polynomial).text

    def index(self, polynomial: Polynomial) -> Spelled:
        """An integer of coordinates and sizes."""
        return index(self, polynomial)


def varies(axis: Axis) -> bool:
    """Whether the range depends on other coordinates."""
    return any(isinstance(atom, Axis | Expression) for atom in (*axis.begin.atoms(), *axis.end.atoms()))


def _is_negative(divisor: Polynomial) -> bool:
    """Whether it may be: sizes are not, and a program does not divide by 0."""
    return any(
        factor < 0 or not all(isinstance(atom, Symbol) for atom in monomial) for monomial, factor in divisor.terms
    )


def _stem(node: Expression) -> str:
    """The first array that a value is made of."""
    return next((each.attribute.memory.name for each in walk(node) if each.operation == "load"), "value")


def _has_results(node: Expression) -> bool:
    return node.operation == "reduce" and node.attribute.combine is not None and node.attribute.combine.arity > 1


def _is_result(node: Expression, of: Expression) -> bool:
    """Whether a node is a result of the same reduction."""
    same = node.operation == of.operation and node.arguments == of.arguments
    return same and replace(node.attribute, result=of.attribute.result) == of.attribute


def _is_sum(node: Expression) -> bool:
    return node.operation == "reduce" and node.attribute.kind == "sum"


def _tensor_axes(node: Expression, loops: Axes) -> frozenset[Axis]:
    return node.axes - set(loops)
