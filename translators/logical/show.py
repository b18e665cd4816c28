"""A logical program as text: one line per statement, blocks indented, values by the author's names."""

from __future__ import annotations

from collections.abc import Iterator

from intent.records import dataclass, field
from translators.algebra.polynomial import Atom, Polynomial, symbol
from translators.logical import program as p
from translators.logical.types import Buffer, Domain, Memory, Tensor, Type, View

_INDENT = "    "


def show(program: p.Program) -> str:
    return "\n".join(show_kernel(kernel) for kernel in program.kernels)


def show_kernel(kernel: p.Kernel) -> str:
    printer = _Printer(kernel)
    parameters = ", ".join(printer.parameter(parameter) for parameter in kernel.parameters)
    constants = "".join(f"; {constant.name} = {constant.value!r}" for constant in kernel.constants)
    lines = [f"kernel {kernel.name}({parameters}{constants})", *printer.block(kernel.body, _INDENT)]
    return "\n".join(lines) + "\n"


@dataclass(slots=True)
class _Printer:
    """Gives each value a name when it is first shown: the author's, or a number."""

    kernel: p.Kernel
    names: dict[p.Value, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    count: int = 0

    # ------------------------------------------------------------------------------------------------- values, types
    def value(self, value: p.Value) -> str:
        if value not in self.names:
            self.names[value] = self._fresh(self.kernel.names.get(value))
        return self.names[value]

    def _fresh(self, name: str | None) -> str:
        if name is not None and f"%{name}" not in self.taken:
            found = f"%{name}"
        else:
            self.count += 1
            found = f"%{name}.{self.count}" if name else f"%{self.count}"
        self.taken.add(found)
        return found

    def values(self, values: tuple[p.Value, ...]) -> str:
        return ", ".join(map(self.value, values))

    def declared(self, values: tuple[p.Value, ...]) -> str:
        return ", ".join(f"{self.value(value)}: {self.type(value.type)}" for value in values)

    def type(self, type: Type) -> str:
        return f"{type.dtype.name}{self.shape(type.shape)}" if isinstance(type, Tensor) else type.dtype.name

    def shape(self, shape: tuple[Polynomial, ...]) -> str:
        return f"[{', '.join(map(self.extent, shape))}]"

    def extent(self, extent: Polynomial) -> str:
        def named(atom: Atom) -> Polynomial | None:
            return symbol(self.value(atom)) if isinstance(atom, p.Value) else None

        return repr(extent.rebuild(named))

    def parameter(self, parameter: View | p.ScalarParameter) -> str:
        if isinstance(parameter, p.ScalarParameter):
            return f"{parameter.name}: {parameter.dtype.name}"
        type = f"{parameter.direction} {parameter.dtype.name}{self.shape(parameter.shape)}"
        return f"{parameter.name}: {type}{self._constraints(parameter)}"

    def _constraints(self, view: View) -> str:
        strides = f" strides={view.strides}" if view.strides is not None else ""
        alias = f" alias={view.alias}" if view.alias is not None else ""
        return f"{strides}{alias}{' noalias' if view.noalias else ''}"

    # -------------------------------------------------------------------------------------------- memory and indices
    def memory(self, memory: Memory) -> str:
        return memory.name if isinstance(memory, View) else f"{memory.name}#"

    def domain(self, domain: Domain) -> str:
        step = f":{domain.step}" if domain.step != 1 else ""
        name = f"{domain.name}=" if domain.name else ""
        return f"{name}[{self.value(domain.begin)}:{self.value(domain.end)}{step}]"

    def relation(self, relation: p.Relation) -> str:
        return f"[{', '.join(map(self._item, relation.items))}]"

    def _item(self, item: p.IndexItem) -> str:
        match item:
            case p.At(index=index):
                return self.value(index)
            case p.Along(domain=domain):
                return self.domain(domain)
            case p.Gathered(index=index):
                return f"*{self.value(index)}"
            case p.NewAxis():
                return "None"

    # ------------------------------------------------------------------------------------------------------ statements
    def block(self, block: p.Block, indent: str) -> Iterator[str]:
        for statement in block.statements:
            for line in self.statement(statement):
                yield indent + line

    def statement(self, statement: p.Statement) -> Iterator[str]:
        match statement:
            case p.Let(op=op, results=results):
                yield f"{self.declared(results)} = {self.op(op)}"
                yield from self._lambdas(op)
            case p.Write() | p.Scatter() | p.AtomicUpdate() | p.Allocate() | p.AssumeInBounds():
                yield self._effect(statement)
            case p.If():
                yield from self._if(statement)
            case p.For() | p.While():
                yield from self._loop(statement)
            case p.Parallel(variables=variables, domains=domains, body=body):
                yield f"parallel {self.values(variables)} in {', '.join(map(self.domain, domains))}"
                yield from self.block(body, _INDENT)

    def _effect(self, effect: p.Write | p.Scatter | p.AtomicUpdate | p.Allocate | p.AssumeInBounds) -> str:
        match effect:
            case p.Write(memory=memory, relation=relation, value=value):
                return f"{self.memory(memory)}{self.relation(relation)} = {self.value(value)}"
            case p.Scatter(memory=memory, relation=relation, value=value, combine=combine):
                kind = combine or "unique"
                return f"scatter {kind} {self.memory(memory)}{self.relation(relation)} = {self.value(value)}"
            case p.AtomicUpdate(action=action, memory=memory, relation=relation, arguments=args):
                place = f"{self.memory(memory)}{self.relation(relation)}"
                results = f"{self.declared(effect.results)} = " if effect.results else ""
                return f"{results}atomic {action} {place} ({self.values(args)}) {effect.order}"
            case p.Allocate(buffer=buffer, init=init):
                start = f" = {self.value(init)}" if init is not None else ""
                return f"buffer {self._buffer(buffer)}{start}"
            case p.AssumeInBounds(index=index, memory=memory, axis=axis):
                return f"assume {self.value(index)} in bounds of {self.memory(memory)} axis {axis}"

    def _buffer(self, buffer: Buffer) -> str:
        return f"{self.memory(buffer)}: {buffer.dtype.name}{self.shape(buffer.shape)}"

    def _if(self, statement: p.If) -> Iterator[str]:
        yield f"if {self.value(statement.condition)}"
        yield from self.block(statement.then, _INDENT)
        if statement.orelse.statements:
            yield "else"
            yield from self.block(statement.orelse, _INDENT)
        for merge in statement.merges:
            if isinstance(merge.origin, p.Merge):
                true, false = self.value(merge.origin.true), self.value(merge.origin.false)
                yield f"merge {self.declared((merge,))} = {true} | {false}"

    def _loop(self, loop: p.For | p.While) -> Iterator[str]:
        carries = ", ".join(f"{self.declared((c.inside,))} = {self.value(c.initial)}" for c in loop.carries)
        carrying = f" carrying ({carries})" if carries else ""
        if isinstance(loop, p.For):
            yield f"for {self.value(loop.variable)} in {self.domain(loop.domain)}{carrying}"
        else:
            yield f"while{carrying}"
            yield from self.block(loop.test, _INDENT)
            yield f"  holds {self.value(loop.condition)}"
        yield from self.block(loop.body, _INDENT)
        yield from self._ends(loop)

    def _ends(self, loop: p.For | p.While) -> Iterator[str]:
        if loop.carries:
            yield f"  next ({self.values(tuple(carry.update for carry in loop.carries))})"
        if loop.exit is not None:
            yield f"  leave if {self.value(loop.carries[loop.exit].update)}"
        if loop.carries:
            yield f"  giving {self.values(tuple(carry.result for carry in loop.carries))}"

    # ------------------------------------------------------------------------------------------------------ operations
    def op(self, op: p.Op) -> str:
        match op:
            case p.Constant(value=value):
                return repr(value)
            case p.Size(extent=extent):
                return f"size {self.extent(extent)}"
            case p.Parameter(name=name):
                return f"parameter {name}"
            case p.Pointwise(function=function, arguments=arguments):
                approximate = " approximate" if op.approximate else ""
                return f"{function} {self.values(arguments)}{approximate}{' ftz' if op.flush_to_zero else ''}"
            case p.Select(condition=condition, true=true, false=false):
                return f"select {self.values((condition, true, false))}"
            case p.Indices(domain=domain):
                return f"indices {self.domain(domain)}"
            case p.Read(memory=memory, relation=relation):
                return f"read {self.memory(memory)}{self.relation(relation)}{self._validity(op)}"
            case p.Pick(argument=argument, relation=relation):
                return f"pick {self.value(argument)}{self.relation(relation)}{self._validity(op)}"
            case _:
                return self._structured(op)

    def _validity(self, op: p.Read | p.Pick) -> str:
        valid = f" valid {self.value(op.valid)}" if op.valid is not None else ""
        return f"{valid} fill {self.value(op.fill)}" if op.fill is not None else valid

    def _structured(self, op: p.Op) -> str:
        match op:
            case p.Cast(argument=a) | p.Bitcast(argument=a) | p.Reshape(argument=a) | p.Broadcast(argument=a):
                return f"{_word(op)} {self.value(a)}"
            case p.Full(fill=fill):
                return f"full {self.value(fill)}"
            case p.Transpose(argument=argument, permutation=permutation):
                return f"transpose {self.value(argument)} {permutation}"
            case p.Join(lhs=lhs, rhs=rhs):
                return f"join {self.values((lhs, rhs))}"
            case p.Reduce(kind=kind, arguments=arguments, axes=axes):
                return f"reduce {kind} {self.values(arguments)} axes {axes}{self._identities(op)}"
            case p.ArgReduce(argument=argument, axis=axis):
                return f"arg_reduce max {self.value(argument)} axis {axis}"
            case p.Scan(kind=kind, arguments=arguments, axis=axis):
                how = f"{'inclusive' if op.inclusive else 'exclusive'}{' reverse' if op.reverse else ''}"
                return f"scan {kind} {self.values(arguments)} axis {axis} {how}{self._identities(op)}"
            case p.Contract(lhs=lhs, rhs=rhs):
                labels = f"{op.lhs_labels},{op.rhs_labels}->{op.result_labels}"
                return f"{op.spelling} {self.values((lhs, rhs))} {labels} in {op.accumulator.name}"
            case _:
                return self._region(op)

    def _identities(self, op: p.Reduce | p.Scan) -> str:
        return f" identity ({self.values(op.identities)})" if op.identities else ""

    def _region(self, op: p.Op) -> str:
        match op:
            case p.Histogram(values=values, valid=valid, bins=bins):
                return f"histogram {self.values((values, valid, bins))}"
            case p.RandomBits(seed=seed, counter=counter):
                return f"random bits {self.values((seed, counter))}"
            case p.RegionFold(sources=sources, axis=axis, operands=operands):
                identities = f"identity ({self.values(op.identities)})"
                return (
                    f"region fold ({self.values(sources)}) axis {axis} {identities} operands ({self.values(operands)})"
                )
            case p.RegionScan(sources=sources, axis=axis, operands=operands):
                state = f"initial ({self.values(op.initial_state)})"
                return f"region scan ({self.values(sources)}) axis {axis} {state} operands ({self.values(operands)})"
            case p.Intrinsic(name=name, arguments=arguments):
                return f"{name} {self.values(arguments)}"
            case _:
                return _word(op)

    def _lambdas(self, op: p.Op) -> Iterator[str]:
        match op:
            case p.Reduce(combine=combine) | p.Scan(combine=combine):
                yield from self._lambda("combine", combine)
            case p.RegionFold():
                yield from self._lambda("summarize", op.summarize)
                yield from self._lambda("combine", op.combine)
            case p.RegionScan():
                for name, body in (("summarize", op.summarize), ("combine", op.combine), ("apply", op.apply)):
                    yield from self._lambda(name, body)
                yield from self._lambda("emit", op.emit)
            case _:
                pass

    def _lambda(self, name: str, body: p.Lambda | None) -> Iterator[str]:
        if body is not None:
            yield f"  {name}({self.declared(body.parameters)})"
            yield from self.block(body.body, _INDENT)
            yield f"    give {self.values(body.results)}"


def _word(op: p.Op) -> str:
    return type(op).__name__.lower()
