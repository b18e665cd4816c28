"""Random host functions that call several random kernels: what one writes, a later one reads.

The file's own `build(context)` for the reference, with every kernel a call of its own, says what the function of the
generated module must give.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from generators import RandomProgram, Writer, writer_of
from random_expressions import Term, View

from intent.records import dataclass, field, replace

INDENT = "    "
PLAIN = re.compile(r"[xyz]\d+")  # views whose arguments may hold anything


@dataclass(slots=True)
class _Stage:
    """One kernel: its text without the imports, and what the host calls its parameters."""

    name: str
    text: str
    program: RandomProgram
    places: dict[str, str] = field(default_factory=dict)  # the host's names by the kernel's

    @property
    def order(self) -> list[str]:
        return self.program.parameters("k")


@dataclass(slots=True)
class _Host:
    """The host function under construction."""

    random: Random
    views: dict[str, View] = field(default_factory=dict)  # its parameters
    scalars: dict[str, Term] = field(default_factory=dict)
    made: dict[str, View] = field(default_factory=dict)  # results of stages
    compiled: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability


def random_composition(random: Random) -> RandomProgram | None:
    """None if the kernels do not suit: extents that no argument has, or views of one allocation."""
    stages = [_stage(random, number) for number in range(random.choice([2, 2, 3]))]
    if any(view.alias for stage in stages for view in stage.program.views) or any(map(_leaves_out, stages)):
        return None
    host = _Host(random)
    for number, stage in enumerate(stages):
        _wire(host, stage, number)
    known = {symbol for view in host.views.values() for symbol in view.shape}
    if not {symbol for stage in stages for symbol in stage.program.symbols} <= known:
        return None
    for stage in stages:
        _call(host, stage)
    return RandomProgram(
        _text(host, stages), tuple(host.views.values()), tuple(host.scalars.values()), random.randrange(2**16),
        entry="f", results=tuple(host.made.values()),
    )  # fmt: skip


def _stage(random: Random, number: int) -> _Stage:
    writer: Writer = writer_of(random)
    writer.counter = 100 * number
    program = writer.program(sections=1, promises=False)
    text = program.text.partition("import intent.language as I\n")[2].replace("def k(", f"def k{number}(")
    text = re.sub(r"\b(one|mix)_\b", rf"\g<1>{number}_", text)
    return _Stage(f"k{number}", text, program)


def _leaves_out(stage: _Stage) -> bool:
    """Whether elements of an output may stay as they were, which is unspecified."""
    return (
        re.search(r"^ +(return|break|continue)$", stage.text.partition("@intent.kernel")[2], re.MULTILINE) is not None
    )


# -------------------------------------------------------------------------------------------------------------- writing
def _wire(host: _Host, stage: _Stage, number: int) -> None:
    """Inputs come from earlier stages where dtype and shape agree, else from the caller."""
    earlier = dict(host.made)
    for view in stage.program.views:
        given = _renamed(view.name, number)
        if view.direction == "Out":
            stage.places[view.name] = given
            host.made[given] = replace_view(view, given)
            continue
        fitting = [name for name, other in earlier.items() if _fits(other, view)]
        known = [name for name, other in host.views.items() if _fits(other, view) and other.direction == "In"]
        if view.direction == "In" and fitting and host.chance(0.8):
            stage.places[view.name] = host.random.choice(fitting)
        elif view.direction == "In" and known and host.chance(0.3):
            stage.places[view.name] = host.random.choice(known)
        else:
            stage.places[view.name] = given
            host.views[given] = replace_view(view, given)
    for scalar in stage.program.scalars:
        stage.places[scalar.text] = given = _renamed(scalar.text, number)
        host.scalars[given] = replace(scalar, text=given)


def _fits(given: View, wanted: View) -> bool:
    """Whether a view may stand for another: what it holds keeps the bound that exactness asks for."""
    held = given.direction != "Out" or not given.inexact
    bounded = wanted.bound is None or (given.bound is not None and given.bound <= wanted.bound)
    plain = PLAIN.fullmatch(given.name) and PLAIN.fullmatch(wanted.name)
    return bool(held and bounded and plain and (given.dtype, given.shape) == (wanted.dtype, wanted.shape))


def _renamed(name: str, number: int) -> str:
    """A number beyond those of the stages before, so that the argument's kind still follows from the name."""
    return re.sub(r"\d+", lambda found: str(int(found[0]) + 1000 * number), name, count=1)


def replace_view(view: View, name: str) -> View:
    return View(name, view.dtype, view.shape, view.direction, view.bound, view.inexact, stretched=view.stretched)


def _call(host: _Host, stage: _Stage) -> None:
    """Compiled by a name of its own, and called in one of the ways there are."""
    artifact = f"run_{stage.name}"
    given = {k: v for k, v in stage.program.constexprs.items() if k in stage.text}
    modes = {k: v for k, v in given.items() if isinstance(v, str)}
    texts = ", ".join(f'"{k}": {_member(stage, k, v) if k in modes else repr(v)}' for k, v in given.items())
    constexprs = f", constexprs={{{texts}}}" if given else ""
    host.compiled.append(f'{artifact} = context.compile("{stage.name}", {stage.name}{constexprs})')
    outs = [view for view in stage.program.views if view.direction == "Out"]
    ways: list[Callable[[_Host, _Stage, str, Sequence[View]], None]] = [_launched, _launched, _prepared]
    if outs:
        ways += [_returned, _returned]
    host.random.choice(ways)(host, stage, artifact, outs)


def _member(stage: _Stage, name: str, member: object) -> str:
    found = re.search(rf"{name}: I.Constexpr\[(\w+)\]", stage.text)
    assert found is not None
    return f"{found[1]}.{member}"


def _allocated(host: _Host, stage: _Stage, outs: Sequence[View]) -> None:
    for view in outs:
        extents = ", ".join(_extent(host, symbol) for symbol in view.shape) + ("," if len(view.shape) == 1 else "")
        host.lines.append(f"{stage.places[view.name]} = context.empty(({extents}), I.{view.dtype})")


def _extent(host: _Host, symbol: str) -> str:
    if symbol.isdigit():
        return symbol
    owner = next(view for view in host.views.values() if symbol in view.shape)
    return f"{owner.name}.shape[{owner.shape.index(symbol)}]"


def _launched(host: _Host, stage: _Stage, artifact: str, outs: Sequence[View]) -> None:
    _allocated(host, stage, outs)
    arguments = [stage.places[name] for name in stage.order if name in stage.places]
    if host.chance(0.3):
        arguments = [f"{name}={stage.places[name]}" for name in stage.order if name in stage.places]
    call = f"{artifact}{host.random.choice(['', '.launch'])}({', '.join(arguments)})"
    if host.chance(0.25):
        host.lines += [f"for _ in range({host.random.choice([1, 2])}):", INDENT + call]
    else:
        host.lines.append(call)


def _inputs(host: _Host, stage: _Stage, outs: Sequence[View]) -> list[str]:
    """Without the outputs; extents that only these have are keywords."""
    names = [name for name in stage.order if name in stage.places and name not in {view.name for view in outs}]
    arguments = [stage.places[name] for name in names]
    own = {symbol for view in stage.program.views if view.direction != "Out" for symbol in view.shape}
    missing = dict.fromkeys(s for view in outs for s in view.shape if s not in own and not s.isdigit())
    return arguments + [f"{symbol}={_extent(host, symbol)}" for symbol in missing]


def _returned(host: _Host, stage: _Stage, artifact: str, outs: Sequence[View]) -> None:
    results = ", ".join(stage.places[view.name] for view in outs)
    host.lines.append(f"{results} = {artifact}.run({', '.join(_inputs(host, stage, outs))})")


def _prepared(host: _Host, stage: _Stage, artifact: str, outs: Sequence[View]) -> None:
    """Bound first, launched later; to outputs of the call's own or given ones."""
    call, arguments = f"call_{stage.name}", _inputs(host, stage, outs)
    results = ", ".join(stage.places[view.name] for view in outs)
    if outs and host.chance(0.5):
        _allocated(host, stage, outs)
        arguments.append(f"outputs=({results}{',' if len(outs) == 1 else ''})")
        results = ""
    host.lines.append(f"{call} = {artifact}.prepare({', '.join(arguments)})")
    host.lines.append(f"{call}.launch()")
    if results:
        host.lines.append(f"{results} = {call}.result()")


def _text(host: _Host, stages: Sequence[_Stage]) -> str:
    parameters = ", ".join([*host.views, *host.scalars])
    results = ", ".join(host.made)
    body = [*host.lines, f"return {results}"] if host.made else [*host.lines]
    lines = ["import intent", "import intent.language as I", *(stage.text for stage in stages), ""]
    lines += ["def build(context):", *(INDENT + line for line in host.compiled), ""]
    lines += [f"{INDENT}def f({parameters}):", *(2 * INDENT + line for line in body), "", f"{INDENT}return f"]
    return "\n".join(lines) + "\n"
