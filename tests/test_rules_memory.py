"""Domains, index relations, reads and writes, buffers, scatters, atomics: each rule once right and once wrong."""

from __future__ import annotations

import pytest
from rules_support import ALL, ELLIPSIS, NONE, Bench, Text, dtypes, extent, lit, rejected, tup, view

from translators.intent_source.read import rules
from translators.intent_source.read.operands import IntrinsicName, Operand, Product, RaggedRow, Slice
from translators.logical.program import Allocate, Along, At, AtomicUpdate, Gathered, Pick, Read, Scatter, Value, Write
from translators.logical.types import Buffer, Domain, Scalar, Tensor


@pytest.fixture
def bench() -> Bench:
    return Bench()


def cut(start: Operand | None, stop: Operand | None, step: Operand | None = None) -> Slice:
    return Slice(start, stop, step)


def subregion(bench: Bench, source: Operand, start: Operand | None, stop: Operand | None) -> Domain:
    found = rules.subscript(bench.builder, source, (cut(start, stop),))
    assert isinstance(found, Domain)
    return found


# ------------------------------------------------------------------------------------------------------------- domains
def test_domain(bench: Bench) -> None:
    assert bench.domain("M").extent == extent("M")
    assert bench.domain(7, start=1, step=2).extent == extent(3)
    assert rules.range_domain(bench.builder, (bench.scalar(dtypes.i32),)).end.dtype == dtypes.index


def test_wrong_bounds(bench: Bench) -> None:
    with rejected("INT304", "f32"):
        bench.call("domain", lit(0), bench.scalar(dtypes.f32))
    with rejected("INT304", "2.5"):
        bench.call("domain", lit(0), lit(2.5))
    with rejected("INT304", "t[()]"):
        bench.call("domain", lit(0), bench.tensor(dtypes.index))
    for step in (lit(0), lit(-1), bench.scalar(dtypes.index)):
        with rejected("INT303"):
            bench.call("domain", lit(0), lit(8), step)
    with rejected("INT120"):
        rules.range_domain(bench.builder, ())


def test_subregion(bench: Bench) -> None:
    source = bench.domain("M")
    begin = bench.scalar(dtypes.index)
    region = subregion(bench, source, begin, rules.binary(bench.builder, "add", begin, lit(8)))
    assert region.extent == extent(8) and region.parent is source
    assert subregion(bench, source, None, begin).begin is source.begin
    assert bench.call("end", region) is region.end
    assert bench.value("indices", region).type == Tensor(dtypes.index, (extent(8),))


def test_wrong_subregion(bench: Bench) -> None:
    source = bench.domain(8)
    with rejected("INT306", "[4, 12)", "[0, 8)"):
        subregion(bench, source, lit(4), lit(12))
    with rejected("INT306"):
        subregion(bench, source, lit(-1), None)
    with rejected("INT306"):
        subregion(bench, source, lit(5), lit(3))
    with rejected("INT305", "contiguous"):
        rules.subscript(bench.builder, source, (cut(None, None, lit(2)),))
    with rejected("INT305"):
        rules.subscript(bench.builder, source, (lit(1),))


def test_iteration(bench: Bench) -> None:
    domain = bench.domain("M")
    assert rules.iteration_domain(bench.builder, domain) is domain
    with rejected("INT307", "range"):
        rules.iteration_domain(bench.builder, lit(4))
    with rejected("INT307", "v.shape[0]"):
        rules.iteration_domain(bench.builder, bench.tensor(dtypes.f32, "M"))
    with rejected("INT309"):
        bench.call("indices", bench.tensor(dtypes.f32, "M"))
    with rejected("INT307"):
        bench.call("parallel", domain)


def test_ragged(bench: Bench) -> None:
    offsets = view("off", dtypes.i32, "G")
    rows = bench.call("ragged", outer=bench.domain("E"), members=bench.domain("R"), offsets=offsets)
    position = bench.scalar(dtypes.index)
    row = rules.subscript(bench.builder, rows, (position,))
    assert isinstance(row, RaggedRow) and row is rules.subscript(bench.builder, rows, (position,))
    assert bench.value("indices", row).shape == (row.domain.extent,)
    assert bench.value("members", row).dtype == dtypes.index
    with rejected("INT308", "domain"):
        bench.call("ragged", outer=offsets, members=bench.domain("R"), offsets=offsets)
    with rejected("INT308", "rank one"):
        bench.call("ragged", bench.domain("E"), bench.domain("R"), view("off", dtypes.f32, "G"))
    with rejected("INT308"):
        rules.subscript(bench.builder, rows, (ALL,))


def test_mapped_members(bench: Bench) -> None:
    offsets, mapping = view("off", dtypes.i32, "G"), view("map", dtypes.i32, "R")
    rows = bench.call("ragged", bench.domain("E"), bench.domain("R"), offsets, mapping)
    row = rules.subscript(bench.builder, rows, (lit(0),))
    assert bench.value("members", row).dtype == dtypes.index


# ------------------------------------------------------------------------------------------------------------- reading
def test_relation_shapes(bench: Bench) -> None:
    x = view("x", dtypes.f32, "A", "B", "C")
    rows, row = bench.domain("B"), bench.scalar(dtypes.index)
    assert bench.read(x, row, rows, ALL).type == Tensor(dtypes.f32, (extent("B"), extent("C")))
    assert bench.read(x).shape == x.shape
    assert bench.read(x, ELLIPSIS, row).shape == x.shape[:2]
    assert bench.read(x, row, NONE, rows).shape == (extent(1), extent("B"), extent("C"))
    assert bench.read(x, row, row, row).type == Scalar(dtypes.f32)
    assert bench.read(view("z", dtypes.f32)).type == Scalar(dtypes.f32)


def test_joint_tensor_indices(bench: Bench) -> None:
    x = view("x", dtypes.f32, "A", "B", "C")
    row, column = bench.tensor(dtypes.i32, "K", 1), bench.tensor(dtypes.i64, "L")
    found = bench.read(x, row, column, ALL)
    assert found.shape == (extent("K"), extent("L"), extent("C"))
    assert bench.read(x, row, bench.scalar(dtypes.index), column).shape == (extent("K"), extent("L"))
    assert isinstance(found.origin, Read) and isinstance(found.origin.relation.items[0], Gathered)
    with rejected("INT504"):
        bench.read(x, row, ALL, column)
    with rejected("INT520"):
        bench.read(x, bench.tensor(dtypes.i32, "K"), column)


def test_static_positions_and_slices(bench: Bench) -> None:
    x = view("x", dtypes.f32, "M", 64)
    last = bench.read(x, lit(-1), lit(-1)).origin
    assert isinstance(last, Read)
    positions = [bench.builder.polynomial(item.index) for item in last.relation.items if isinstance(item, At)]
    assert positions == [extent("M") - 1, extent(63)]
    assert bench.read(x, ALL, cut(lit(16), lit(-16))).shape == (extent("M"), extent(32))
    begin, end = bench.scalar(dtypes.index), bench.scalar(dtypes.i32)
    assert len(bench.read(x, cut(begin, end)).shape) == 2


def test_wrong_indices(bench: Bench) -> None:
    x = view("x", dtypes.f32, "M", 4)
    with rejected("INT501", "3 indices", "2 axes"):
        bench.read(x, ALL, ALL, ALL)
    with rejected("INT502", "I.cast"):
        bench.read(x, bench.tensor(dtypes.f32, "K"))
    with rejected("INT502", "`if`"):
        bench.read(x, bench.tensor(dtypes.boolean, "M"))
    with rejected("INT502"):
        bench.read(x, ELLIPSIS, ELLIPSIS)
    with rejected("INT502"):
        bench.read(x, lit(True))
    with rejected("INT408"):
        bench.read(x, bench.tensor(dtypes.index))
    for position in (4, -5):
        with rejected("INT503", "4 elements"):
            bench.read(x, lit(0), lit(position))
    with rejected("INT503", "never clamped"):
        bench.read(x, ALL, cut(lit(2), lit(5)))
    with rejected("INT503"):
        bench.read(x, ALL, bench.domain(5))
    with rejected("INT516"):
        bench.read(x, cut(None, None, lit(2)))
    with rejected("INT404"):
        bench.read(bench.scalar(dtypes.f32), lit(0))


def test_tensor_values_are_indexed_locally(bench: Bench) -> None:
    value = bench.tensor(dtypes.f32, "M", 2)
    found = bench.read(value, ALL, lit(1))
    assert isinstance(found.origin, Pick) and found.shape == (extent("M"),)
    scalar = rules.subscript(bench.builder, bench.tensor(dtypes.f32), ())
    assert isinstance(scalar, Value) and scalar.type == Scalar(dtypes.f32)


def test_gather(bench: Bench) -> None:
    x = view("x", dtypes.f32, "M", "N")
    at, ok = bench.tensor(dtypes.i32, "K"), bench.tensor(dtypes.boolean, "K", 1)
    found = bench.value("gather", x, index=tup(at, ALL), valid=ok, fill=lit(0.0))
    assert found.shape == (extent("K"), extent("N"))
    assert bench.value("gather", bench.tensor(dtypes.f32, "N"), index=at).shape == (extent("K"),)
    with rejected("INT512", "bool"):
        bench.call("gather", x, tup(at, lit(0)), valid=lit(1))
    with rejected("INT512", "f32"):
        bench.call("gather", x, tup(at, lit(0)), valid=lit(True), fill=bench.scalar(dtypes.f16))
    with rejected("INT512", "enlarge"):
        bench.call("gather", x, tup(lit(0), lit(0)), valid=ok)


# ------------------------------------------------------------------------------------------------------------- writing
def test_assignment(bench: Bench) -> None:
    y = view("y", dtypes.bf16, "M", "N", direction="Out")
    rules.assign(bench.builder, y, (bench.domain("M"), ALL), lit(0.5))
    write = bench.builder.statements[-1]
    assert isinstance(write, Write) and write.value.dtype == dtypes.bf16
    assert all(isinstance(item, Along) for item in write.relation.items)
    rules.assign(bench.builder, y, (ALL, ALL), bench.tensor(dtypes.bf16, "N"))
    rules.assign(bench.builder, y, (lit(0), lit(0)), bench.tensor(dtypes.bf16))


def test_wrong_assignments(bench: Bench) -> None:
    y = view("y", dtypes.f32, "M", "N", direction="Out")
    with rejected("INT506", "`x`", "InOut"):
        rules.assign(bench.builder, view("x", dtypes.f32, "M"), (ALL,), lit(0.0))
    with rejected("INT507", "I.buffer"):
        rules.assign(bench.builder, bench.tensor(dtypes.f32, "M"), (ALL,), lit(0.0))
    with rejected("INT519"):
        rules.assign(bench.builder, bench.domain("M"), (ALL,), lit(0.0))
    with rejected("INT505"):
        rules.assign(bench.builder, y, (NONE, ALL, ALL), lit(0.0))
    with rejected("INT210", "I.cast(..., I.f32)"):
        rules.assign(
            bench.builder, y, (ALL, ALL), bench.call("select", bench.scalar(dtypes.boolean), lit(1.0), lit(0.0))
        )
    with rejected("INT509", "I.reshape(v, (v.shape[0], 1))"):
        rules.assign(bench.builder, y, (ALL, ALL), bench.tensor(dtypes.f32, "M"))
    with rejected("INT509", "never dropped"):
        rules.assign(bench.builder, y, (lit(0), ALL), bench.tensor(dtypes.f32, 1, "N"))
    with rejected("INT509"):
        rules.assign(bench.builder, y, (lit(0), lit(0)), bench.tensor(dtypes.f32, "N"))
    with rejected("INT509"):
        rules.assign(bench.builder, y, (ALL, cut(lit(0), lit(1))), bench.tensor(dtypes.f32, "M", "N"))
    with rejected("INT301"):
        rules.assign(bench.builder, y, (ALL, ALL), bench.domain("N"))
    with rejected("INT517"):
        bench.call("store", y, tup(lit(0), lit(0)), lit(0.0), mask=bench.scalar(dtypes.boolean))


def test_effects_are_not_pure(bench: Bench) -> None:
    bench.builder.pure = "the combine of I.reduce"
    with rejected("INT515", "the combine of I.reduce"):
        rules.assign(bench.builder, view("y", dtypes.f32, "M", direction="Out"), (ALL,), lit(0.0))
    with rejected("INT515"):
        bench.call("buffer", tup(lit(4)), dtypes.f32)


def test_buffers(bench: Bench) -> None:
    bench.builder.target = "scratch"
    made = bench.call("buffer", tup(lit(4), bench.builder.size(extent("N"))), dtypes.i32, init=lit(0))
    assert isinstance(made, Buffer) and made.name == "scratch"
    assert isinstance(bench.builder.statements[-1], Allocate)
    bench.call("store", made, tup(lit(0), lit(1)), lit(7))
    assert bench.value("mutable_load", made, tup(lit(0), lit(1))).type == Scalar(dtypes.i32)
    with rejected("INT204"):
        bench.call("buffer", tup(lit(4)), dtypes.i32, init=lit(0.5))
    with rejected("INT521", "i32"):
        bench.call("buffer", tup(lit(4)), dtypes.i32, init=bench.scalar(dtypes.f32))
    with rejected("INT521"):
        bench.call("buffer", tup(lit(4)), dtypes.f32, init=bench.tensor(dtypes.f32, 3))
    with rejected("INT510"):
        bench.call("exp", made)


def test_scatters(bench: Bench) -> None:
    y = view("y", dtypes.f32, "M", "N", direction="InOut")
    at, value = bench.tensor(dtypes.i32, "K"), bench.tensor(dtypes.f32, "K", "N")
    bench.call("scatter_unique", y, index=tup(at, ALL), value=value)
    bench.call("scatter_reduce", y, index=tup(at, ALL), value=value, combine=IntrinsicName("maximum"))

    def merge(a: Operand, b: Operand) -> Operand:
        return rules.binary(bench.builder, "add", a, b)

    def other(a: Operand, b: Operand) -> Operand:
        return rules.binary(bench.builder, "multiply", a, b)

    bench.call("scatter_reduce", y, index=tup(at, ALL), value=value, combine=bench.helper(merge))
    found = [statement for statement in bench.builder.statements if isinstance(statement, Scatter)]
    assert [scatter.combine for scatter in found] == [None, "maximum", "add"]
    for wrong in (IntrinsicName("select"), bench.helper(other), lit(0)):
        with rejected("INT514", "I.add"):
            bench.call("scatter_reduce", y, index=tup(at, ALL), value=value, combine=wrong)


def test_atomics(bench: Bench) -> None:
    counts = view("c", dtypes.i32, "N", direction="InOut")
    assert bench.value("atomic.add", counts, tup(lit(0)), lit(1), order=Text("relaxed")).type == Scalar(dtypes.i32)
    assert bench.call("atomic.store", counts, tup(lit(0)), lit(1), order=Text("release")) == NONE
    swap = bench.call("atomic.compare_exchange", counts, tup(lit(0)), lit(0), lit(1), order=Text("acq_rel"))
    assert isinstance(swap, Product) and swap.names == ("old_value", "success")
    found = [statement for statement in bench.builder.statements if isinstance(statement, AtomicUpdate)]
    assert [update.action for update in found] == ["add", "store", "compare_exchange"]
    with rejected("INT513", "acquire"):
        bench.call("atomic.load", counts, tup(lit(0)), order=Text("release"))
    with rejected("INT214"):
        bench.call("atomic.xor", view("f", dtypes.f32, "N", direction="InOut"), tup(lit(0)), lit(1.0), Text("relaxed"))
    with rejected("INT506"):
        bench.call("atomic.load", view("x", dtypes.i32, "N"), tup(lit(0)), order=Text("relaxed"))


def test_promises(bench: Bench) -> None:
    x = view("x", dtypes.f32, "M", "N")
    assert bench.call("assume_in_bounds", bench.tensor(dtypes.i32, "K"), x, axis=lit(-1)) == NONE
    assert bench.call("assume_in_bounds", bench.domain("K"), x, axis=lit(0)) == NONE
    with rejected("INT310"):
        bench.call("assume_in_bounds", bench.scalar(dtypes.f32), x, axis=lit(0))
    with rejected("INT310"):
        bench.call("assume_in_bounds", bench.scalar(dtypes.i32), bench.tensor(dtypes.f32, "N"), axis=lit(0))
    with rejected("INT407"):
        bench.call("assume_in_bounds", bench.scalar(dtypes.i32), x, axis=lit(2))
