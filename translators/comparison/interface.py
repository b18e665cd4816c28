"""Which parameter of one kernel is which of the other, and what both call their sizes.

Arrays are matched by position, if their roles agree there (element type, rank, direction); otherwise in order within
each role; otherwise by name. Sizes follow from the shapes of the matched arrays, and between two Triton kernels of
equally many numbers also from their position. Numbers are matched by position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.records import dataclass, field
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Polynomial, Symbol, atomic, number, product, symbol
from translators.comparison.canonical import Names
from translators.comparison.parts import Aligned, aligned
from translators.comparison.sides import Origin, Side
from translators.logical.types import View

PROGRAMS = "programs_"  # what counts the programs along an axis of the grid


class Mismatch(Exception):
    """The two kernels cannot be called alike. `certain` if they differ; otherwise it cannot be told."""

    def __init__(self, reason: str, certain: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.certain = certain


@dataclass(slots=True)
class Matching:
    """The names of both sides, what they rest on, and how the parameters were found."""

    first: Names
    second: Names
    provisos: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)


def alone(side: Side) -> Names:
    """The names of a kernel by itself."""
    sizes = {atom.name for view in side.views for extent in view.shape for atom in _symbols(extent)}
    parameters = {each.name: each.name for each in side.kernel.parameters}
    return Names(parameters, {name: symbol(name) for name in sizes})


def match(first: Side, second: Side) -> Matching:
    """Raises Mismatch."""
    made = Matching(Names({}, {}), Names({}, {}))
    views = _match_views(first, second, made)
    parameters = ({one.name: one.name for one, _ in views}, {other.name: one.name for one, other in views})
    _match_numbers(first, second, parameters)
    sizes = _Sizes(first, second, made)
    pairs = [found for one, other in views if (found := aligned((first, second), one, other)) is not None]
    for pair in pairs:
        sizes.match(pair)
    sizes.finish()
    _match_strides(first, second, pairs, sizes)
    made.first, made.second = (
        Names(
            parameters[ordinal],
            known,
            {(pair.one, pair.other)[ordinal].name: pair.axes(ordinal) for pair in pairs},
            {(pair.one, pair.other)[ordinal].name: pair.parts(ordinal) for pair in pairs},
        )
        for ordinal, known in enumerate((sizes.first, sizes.second))
    )
    made.pairs = [(one.name, other.name) for one, other in views]
    return made


# --------------------------------------------------------------------------------------------------------------- views
def _match_views(first: Side, second: Side, made: Matching) -> list[tuple[View, View]]:
    if len(first.views) != len(second.views):
        raise Mismatch(f"{len(first.views)} arrays against {len(second.views)}", certain=True)
    sides = (first, second)
    position = list(zip(first.views, second.views, strict=True))
    if all(_alike(sides, one, other) for one, other in position):
        return position
    ordered = list(zip(_by_role(first.views), _by_role(second.views), strict=True))
    if all(_alike(None, one, other) for one, other in ordered):
        made.provisos.append("arrays are matched in order within inputs and outputs, as their positions differ")
        return ordered
    named = {view.name: view for view in second.views}
    if named.keys() == {view.name for view in first.views}:
        pairs = [(view, named[view.name]) for view in first.views]
        if all(_alike(sides, one, other) for one, other in pairs):
            made.provisos.append("arrays are matched by name, as their positions differ")
            return pairs
    one, other = next(pair for pair in position if not _alike(sides, *pair))
    raise Mismatch(f"{_described(one)} against {_described(other)}", certain=True)


def _by_role(views: Sequence[View]) -> list[View]:
    return sorted(views, key=lambda view: ("In", "InOut", "Out").index(view.direction))


def _alike(sides: tuple[Side, Side] | None, one: View, other: View) -> bool:
    """Between the languages a buffer that is only written may be Out or InOut. Without sides, all is compared."""
    loose = sides is not None and sides[0].language != sides[1].language
    direction = one.direction == other.direction or (loose and one.writable and other.writable)
    same_rank = one.rank == other.rank if sides is None else aligned(sides, one, other) is not None
    return direction and one.dtype == other.dtype and same_rank


def _described(view: View) -> str:
    return f"'{view.name}' ({view.direction} {view.dtype.name}, {view.rank} axes)"


# ------------------------------------------------------------------------------------------------------------- numbers
def _match_numbers(first: Side, second: Side, parameters: tuple[dict[str, str], dict[str, str]]) -> None:
    ones, others = _numbers(first), _numbers(second)
    if first.origin is not None and second.origin is not None and len(ones) == len(others):
        pairs = list(zip(ones, others, strict=True))
        pairs += list(zip(first.origin.groups, second.origin.groups, strict=False))
        pairs += _alike_at_compile_time(first.origin, second.origin)
    else:
        pairs = _match_scalars(first, second)
    types = ({each.name: each.dtype for each in first.scalars}, {each.name: each.dtype for each in second.scalars})
    for one, other in pairs:
        left, right = types[0].get(one), types[1].get(other)
        if left is not None and right is not None and left != right:
            raise Mismatch(f"'{one}' is {left.name}, '{other}' is {right.name}", certain=False)
        parameters[0][one] = parameters[1][other] = one
    for which, own, named in zip(("first", "second"), types, parameters, strict=True):
        for name in own:
            named.setdefault(name, f"{name} of the {which}")


def _numbers(side: Side) -> list[str]:
    """Runtime parameters that are no arrays, whether used or not."""
    if side.origin is None:
        return [each.name for each in side.scalars]
    pointers = set(side.origin.pointers.values())
    return [name for name in side.origin.parameters if name not in pointers]


def _match_scalars(first: Side, second: Side) -> list[tuple[str, str]]:
    """Numbers that are computed with, in order; by name where one side has more of them."""
    ones, others = ([each.name for each in side.scalars] for side in (first, second))
    if len(ones) == len(others):
        return list(zip(ones, others, strict=True))
    return [(name, name) for name in ones if name in others]


# --------------------------------------------------------------------------------------------------------------- sizes
@dataclass(slots=True)
class _Sizes:
    """Sizes get the names of the first side. One size of one side is one size of the other."""

    one: Side
    other: Side
    made: Matching
    first: dict[str, Polynomial] = field(default_factory=dict)
    second: dict[str, Polynomial] = field(default_factory=dict)
    waiting: list[tuple[Polynomial, Polynomial, str]] = field(default_factory=list)  # more than a name on a side

    def __post_init__(self) -> None:
        """Between Triton kernels with equally many numbers, a size is a parameter in its position."""
        if self.one.origin is None or self.other.origin is None:
            return
        ones, others = _numbers(self.one), _numbers(self.other)
        if len(ones) == len(others):
            for name, same in zip(ones, others, strict=True):
                self.first[name] = self.second[same] = symbol(name)
            for name, same in zip(self.one.origin.groups, self.other.origin.groups, strict=False):
                self.first[name] = self.second[same] = symbol(name)
            for name, same in _alike_at_compile_time(self.one.origin, self.other.origin):
                self.first.setdefault(name, symbol(name))
                self.second.setdefault(same, symbol(name))

    def match(self, pair: Aligned) -> None:
        one, other = pair.one, pair.other
        for mine, theirs in pair.groups:
            if len(mine) == len(theirs) == 1:
                left, right = self._known(self.one, one.shape[mine[0]]), self._known(self.other, other.shape[theirs[0]])
                self._pair(left, right, f"axis {mine[0]} of '{one.name}'")

    def _known(self, side: Side, extent: Polynomial) -> Polynomial:
        """A compile-time size as the number that the launch gives it; another language has no such parameter."""
        atom = extent.atom
        if side.origin is None or self.one.language == self.other.language or not isinstance(atom, Symbol):
            return extent
        value = side.origin.constants.get(atom.name)
        if isinstance(value, bool) or not isinstance(value, int) or atom.name in side.origin.parameters:
            return extent
        (self.first if side is self.one else self.second)[atom.name] = number(value)
        return number(value)

    def _pair(self, left: Polynomial, right: Polynomial, where: str) -> None:
        unknown = _is_unknown(self.one, left), _is_unknown(self.other, right)
        if self.one.language != self.other.language and any(unknown):
            self.waiting.append((left, right, where))
            return
        if left.constant is not None or right.constant is not None:
            if left != right:
                raise Mismatch(f"{where} has {left!r} elements against {right!r}", certain=True)
            return
        if not (isinstance(left.atom, Symbol) and isinstance(right.atom, Symbol)):
            self.waiting.append((left, right, where))
            return
        mine, theirs = left.atom.name, right.atom.name
        known, same = self.first.get(mine), self.second.get(theirs)
        if known is None and same is None:
            self.first[mine] = self.second[theirs] = symbol(mine)
        elif known != same:
            raise Mismatch(f"{where} is of size {mine} against {theirs}, which other axes tell apart", certain=True)

    def finish(self) -> None:
        """Sizes that are more than a name on one side, or that only callers know: a name is short for the other's."""
        waiting = sorted(self.waiting, key=lambda each: len(each[0].terms) + len(each[1].terms))
        for left, right, where in waiting:
            mine, theirs = self._named(left, self.first, "first"), self._named(right, self.second, "second")
            if mine is None:
                self.first[_symbols(left)[0].name] = mine = left if theirs is None else theirs
                _check_reach(self.one, left, mine, self.first)
            if theirs is None:
                self.second[_symbols(right)[0].name] = theirs = mine
                _check_reach(self.other, right, theirs, self.second)
            if mine != theirs:
                raise Mismatch(f"{where} has {mine!r} elements against {theirs!r}", certain=False)

    def _named(self, extent: Polynomial, known: dict[str, Polynomial], which: str) -> Polynomial | None:
        """In names of both sides; None for a name that is still free. What is in no other extent keeps its name."""
        free = [each.name for each in _symbols(extent) if each.name not in known]
        if isinstance(extent.atom, Symbol) and free and (which == "second" or _is_unknown(self.one, extent)):
            return None
        for name in free:
            known[name] = symbol(name if which == "first" else f"{name} of the second")
        return _renamed(extent, known)


def _alike_at_compile_time(first: Origin, second: Origin) -> list[tuple[str, str]]:
    """Compile-time parameters by position, or those of one name if one side has more of them."""
    if len(first.compile_time) == len(second.compile_time):
        return list(zip(first.compile_time, second.compile_time, strict=True))
    return [(name, name) for name in first.compile_time if name in second.compile_time]


def _is_unknown(side: Side, extent: Polynomial) -> bool:
    """Whether nothing in the Triton kernel says how large it is: the caller's array does."""
    atom = extent.atom
    if side.origin is None or not isinstance(atom, Symbol):
        return False
    correspondence = side.origin.lifted.correspondence
    return correspondence is not None and (atom.name in correspondence.reached or _is_least(side, extent))


def _is_least(side: Side, extent: Polynomial) -> bool:
    """Whether it is as many elements as the kernel needs, and the array's layout does not depend on how many it has."""
    defined = _defined(side, extent)
    if defined == extent or side.origin is None:
        return False
    shapes = {view.name: view.shape for view in side.views}
    said = {*_symbols(extent), *_symbols(defined)}
    return not any(
        said & set(_symbols(stride))
        for name, strides in side.origin.strides.items()
        if extent in shapes[name]
        for stride in strides
    )


def _check_reach(side: Side, extent: Polynomial, value: Polynomial, names: Mapping[str, Polynomial]) -> None:
    """An array that the other side says the size of has as many elements as the kernel needs."""
    if not _is_least(side, extent):
        return
    needed = _renamed(_defined(side, extent), names)
    if not Facts().nonnegative(value - needed):
        raise Mismatch(f"{value!r} elements may be fewer than {needed!r}", certain=False)


def _symbols(extent: Polynomial) -> list[Symbol]:
    return [atom for atom in extent.atoms() if isinstance(atom, Symbol)]


# ------------------------------------------------------------------------------------------------------------- strides
def _match_strides(first: Side, second: Side, pairs: Sequence[Aligned], sizes: _Sizes) -> None:
    if first.origin is not None and second.origin is not None and len(_numbers(first)) == len(_numbers(second)):
        views = [(pair.one, pair.other) for pair in pairs]
        for one, other in views:
            left = [_renamed(each, sizes.first) for each in first.origin.strides[one.name]]
            right = [_renamed(each, sizes.second) for each in second.origin.strides[other.name]]
            if left != right:
                raise Mismatch(f"the strides of '{one.name}' are {left} against {right}", certain=True)
        _check_definitions(first, second, views, sizes)
        _check_flags(first, second)
        if not _cover_alike(first, second, sizes):
            raise Mismatch("no launch is known, and the axes of the grid go over other sizes", certain=False)
        return
    for ordinal, side in enumerate((first, second)):
        if side.origin is not None:
            nested = {(pair.one, pair.other)[ordinal].name: pair.nested(ordinal) for pair in pairs}
            _check_layout(side, sizes.made, nested)


def _check_definitions(first: Side, second: Side, views: Sequence[tuple[View, View]], sizes: _Sizes) -> None:
    """Extents that no parameter is must be the same numbers of the parameters, which are those of one call."""
    for one, other in views:
        for axis, (mine, theirs) in enumerate(zip(one.shape, other.shape, strict=True)):
            left = _renamed(_defined(first, mine), sizes.first)
            right = _renamed(_defined(second, theirs), sizes.second)
            if left != right:
                plain = all(isinstance(atom, Symbol) for each in (left, right) for atom in each.atoms())
                raise Mismatch(f"axis {axis} of '{one.name}' has {left!r} elements against {right!r}", certain=plain)


def _defined(side: Side, extent: Polynomial) -> Polynomial:
    if side.origin is None or side.origin.lifted.correspondence is None:
        return extent
    atom = extent.atom
    defined = side.origin.lifted.correspondence.extents
    return defined.get(atom.name, extent) if isinstance(atom, Symbol) else extent


def _check_flags(first: Side, second: Side) -> None:
    """Both lifts must be for the same values of compile-time flags."""
    assert first.origin is not None and second.origin is not None
    ones, others = first.origin.constants, second.origin.constants
    for name in ones.keys() & others.keys():
        if isinstance(ones[name], bool | str | float) and ones[name] != others[name]:
            raise Mismatch(f"the lifts are for {name} = {ones[name]} and {name} = {others[name]}", certain=False)


def _cover_alike(first: Side, second: Side, sizes: _Sizes) -> bool:
    """Whether the axes of both grids go over the same sizes, unless host code gives both."""
    assert first.origin is not None and second.origin is not None
    if not first.origin.coverage and not second.origin.coverage:
        return True
    return _coverage(first, sizes.first) == _coverage(second, sizes.second)


def _coverage(side: Side, names: Mapping[str, Polynomial]) -> set[tuple[str, frozenset[str]]]:
    """Which axis of the grid goes over which sizes, as host code or only an assumption says."""
    assert side.origin is not None and side.origin.lifted.correspondence is not None
    facts = [(fact, [each for each in _names(fact) if each.startswith(PROGRAMS)]) for fact in side.origin.coverage]
    if not facts:
        grid = side.origin.lifted.correspondence.grid
        facts = [(extent, [f"{PROGRAMS}{axis}"]) for axis, extent in enumerate(grid) if extent.constant is None]
    found: set[tuple[str, frozenset[str]]] = set()
    for fact, programs in facts:
        covered = frozenset(repr(names[name]) for name in _names(fact) if name in names)
        found.update((each, covered) for each in programs)
    return found


def _names(polynomial: Polynomial) -> list[str]:
    return [each.name for each in _symbols(polynomial)]


def _renamed(polynomial: Polynomial, names: Mapping[str, Polynomial]) -> Polynomial:
    return polynomial.substitute({Symbol(name): value for name, value in names.items()})


def _check_layout(side: Side, made: Matching, nested: Mapping[str, set[int]]) -> None:
    """Strides must be a layout: each axis has a stride of its own, or the elements follow each other.

    `nested` axes have their strides from those of the next ones. A number that is passed and not used may be what
    another was meant to be.
    """
    assert side.origin is not None
    if side.origin.unused:
        raise Mismatch(f"the parameter '{side.origin.unused[0]}' of '{side.name}' is not used", certain=False)
    sizes = {atom for view in side.views for extent in view.shape for atom in extent.atoms()}
    seen: dict[object, str] = {}
    for view in side.views:
        strides = side.origin.strides[view.name]
        for axis, stride in enumerate(strides):
            if axis in nested[view.name]:
                continue
            dense = product(view.shape[axis + 1 :])
            if stride == dense or view.shape[axis].constant == 1:
                if dense != number(1):
                    made.provisos.append(f"'{side.origin.pointers[view.name]}' is contiguous")
                continue
            atom = stride.atom
            if not isinstance(atom, Symbol) or atom in sizes:
                raise Mismatch(f"axis {axis} of '{view.name}' has the stride {stride!r}", certain=False)
            if seen.setdefault(atom, view.name) != view.name:
                made.provisos.append(f"'{view.name}' and '{seen[atom]}' have the stride {atom.name} in common")
            elif strides.count(atomic(atom)) > 1:
                raise Mismatch(f"several axes of '{view.name}' have the stride {atom.name}", certain=False)
