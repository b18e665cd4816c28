"""What the host code of a file says of each kernel, for lifting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from intent.dtypes import DType
from intent.records import replace
from translators.algebra.polynomial import Atom, Polynomial, Quotient, Symbol, symbol
from translators.lifting.lift import Launch, block_names
from translators.triton_source.read.host import HostCode, HostLaunch, is_opaque
from translators.triton_source.read.kernels import Known
from translators.triton_source.read.source import TritonFile
from translators.triton_source.read.values import Function


def launches(
    file: TritonFile, constants: Mapping[str, object] | None = None, dtypes: Mapping[str, DType] | None = None
) -> dict[str, Launch]:
    """By kernel: its only launch, or what all its launches agree on; the caller's own constants and types come
    first.

    A launch where no argument is given that can be left out comes before any launch.
    """
    code = HostCode(file)
    without, always = _by_kernel(code.launches(absent=True)), _by_kernel(code.launches(absent=False))
    made = {}
    for kernel in file.kernels:
        given = _of(kernel.name, constants or {})
        launch = _launch(kernel, _agreed(kernel, always.get(kernel.name, [])), given, dtypes or {})
        first = _launch(kernel, _agreed(kernel, without.get(kernel.name, [])), given, dtypes or {})
        made[kernel.name] = replace(first, otherwise=launch) if first.line and first != launch else launch
    return made


def _by_kernel(launches: Iterable[HostLaunch]) -> dict[str, list[HostLaunch]]:
    found: dict[str, list[HostLaunch]] = {}
    for launch in launches:
        found.setdefault(launch.kernel, []).append(launch)
    return found


def _of(kernel: str, constants: Mapping[str, object]) -> dict[str, object]:
    """`NAME` and `KERNEL.NAME`."""
    made = {name: value for name, value in constants.items() if "." not in name}
    prefix = f"{kernel}."
    made.update({name[len(prefix) :]: value for name, value in constants.items() if name.startswith(prefix)})
    return made


def _agreed(kernel: Function, found: list[HostLaunch]) -> HostLaunch:
    """The only launch; or what all launches have in common, if that says what the grid is; or else the first one."""
    if not found:
        return HostLaunch(kernel.name, (), {}, {}, (), 0)
    first, *others = found
    common = (guard for guard in first.guards if all(guard in other.guards for other in others))
    guards = tuple(guard for guard in common if _small(guard))
    if any(other.grid != first.grid for other in others):
        return replace(first, guards=guards)
    constants = {
        name: value
        for name, value in first.constants.items()
        if all(name in other.constants and other.constants[name] == value for other in others)
    }
    dtypes = {
        name: dtype for name, dtype in first.dtypes.items() if all(other.dtypes.get(name) == dtype for other in others)
    }
    facts = tuple(fact for fact in first.facts if all(fact in other.facts for other in others))
    absent = frozenset[str]().union(*(each.absent for each in found))
    strides = {
        name: stride
        for name, stride in first.strides.items()
        if all(other.strides.get(name) == stride for other in others)
    }
    return HostLaunch(
        kernel.name, first.grid, constants, dtypes, facts, first.line, first.bytes, guards, absent, strides
    )


def _small(guard: Polynomial) -> bool:
    """Whether small sizes can meet it: that a size is large helps no proof."""
    return all(monomial or factor >= -1 for monomial, factor in guard.terms)


def _launch(
    kernel: Function, found: HostLaunch, constants: Mapping[str, object], dtypes: Mapping[str, DType]
) -> Launch:
    given = {name: value for name, value in constants.items() if isinstance(value, bool | int | float | str)}
    bound = {**found.constants, **given}
    blocks = block_names(kernel)
    named = any(isinstance(atom, Symbol) and atom.name in blocks for each in found.grid for atom in each.atoms())
    numbers = not named and any(_has_number(each) for each in found.grid) and any(name in bound for name in blocks)
    names = _readable(kernel, found.grid)
    grid = tuple(each.substitute(names) for each in found.grid)
    known = Known(bound, numbers, {**found.dtypes, **dtypes}, bytes=found.bytes)
    counts = frozenset(name for atom in names if is_opaque(atom) for name in _symbols(names[atom]))
    facts = (*found.facts, *found.guards)
    sizes = {name for each in (*found.grid, *facts) for name in _symbols(each) if name.isidentifier()}
    arguments = frozenset(sizes - counts - _parameters(kernel))
    return Launch(
        grid,
        known,
        facts,
        found.line,
        counts=counts,
        arguments=arguments,
        absent=tuple(sorted(found.absent)),
        strides={name: stride.substitute(names) for name, stride in found.strides.items()},
    )


def _symbols(polynomial: Polynomial) -> Iterator[str]:
    return (atom.name for atom in polynomial.atoms() if isinstance(atom, Symbol))


def _parameters(kernel: Function) -> set[str]:
    arguments = kernel.node.args
    return {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _has_number(extent: Polynomial) -> bool:
    """Whether a grid is computed with a block size that is written as a number."""
    return any(isinstance(atom, Quotient) and atom.denominator.constant is not None for atom in extent.atoms())


def _readable(kernel: Function, grid: tuple[Polynomial, ...]) -> dict[Atom, Polynomial]:
    """Sizes that only the host has: `x.shape[0]` gets a name of its own."""
    taken = _parameters(kernel)
    made: dict[Atom, Polynomial] = {}
    for extent in grid:
        for atom in extent.atoms():
            if isinstance(atom, Symbol) and not atom.name.isidentifier() and atom not in made:
                name = next(each for each in ("M", "R", "P", "H", "Q", "rows", atom.name) if each not in taken)
                taken.add(name)
                made[atom] = symbol(name)
    return made
