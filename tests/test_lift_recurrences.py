"""Lifting of recurrences: running maxima with rescaled sums. What closes stores the same; what does not is refused."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from intentc.lift_verification import verify
from tests.test_lift_reading import HEADER, body, closes
from tests.test_lift_rules import same
from translators.lifting.carries import close
from translators.lifting.files import LiftedFile, lift_text
from translators.lifting.lift import Lifted

CORPUS = Path(__file__).parent / "lift"


def lifted(name: str) -> LiftedFile:
    return lift_text((CORPUS / f"{name}.py").read_text(), f"{name}.py")


def kernel_of(name: str, kernel: str) -> Lifted:
    return next(each for each in lifted(name).kernels if each.name == kernel)


def lines_of(kernel: Lifted) -> list[str]:
    assert kernel.source is not None, kernel.reason
    return [line.strip() for line in kernel.source.body]


def running(update: str, first: str = "0.0", after: str = "z + m") -> str:
    return f"""
        m = float("-inf")
        z = {first}
        for k in range(n):
            x = tl.load(x_ptr + k)
            new = tl.maximum(m, x)
            {update}
            m = new
        tl.store(y_ptr, {after})
    """


RESCALED = {
    "a sum of weights": running("z = z * tl.exp(m - new) + tl.exp(x - new)"),
    "operands the other way round": running("z = tl.exp(x - new) + tl.exp(m - new) * z"),
    "powers of two": running("z = z * tl.exp2(m - new) + tl.exp2(x - new)"),
    "a scaled exponent": running("z = z * tl.exp((m - new) * 0.5) + tl.exp((x - new) * 0.5)"),
    "a scale that is multiplied out": running("z = z * tl.exp2(m * 0.5 - new * 0.5) + tl.exp2(x * 0.5 - new * 0.5)"),
    "weighted values": running("z = z * tl.exp(m - new) + 3.0 * tl.exp(x - new) * tl.load(x_ptr + k + n)"),
    "differences of weighted values": running("z = z * tl.exp(m - new) - (tl.exp(x - new) - tl.exp(x - new) / 3.0)"),
    "in two steps": running("z = z * tl.exp(m - new) + tl.exp(x - new) + 2.0 * tl.exp(x - new)"),
    "nothing while there is no maximum": running(
        "z = tl.where(new == -float('inf'), z, z * tl.exp(m - new) + tl.exp(x - new))"
    ),
    "a maximum of minus infinity replaced": running(
        "safe = tl.where(new == -float('inf'), 0.0, new); z = z * tl.exp(m - safe) + tl.exp(x - safe)"
    ),
    "a first value that the first maximum takes away": running("z = z * tl.exp(m - new) + tl.exp(x - new)", "1.0"),
}


@pytest.mark.parametrize("lines", RESCALED.values(), ids=RESCALED)
def test_rescaled_sums_close(lines: str) -> None:
    assert all(closes(body(lines), {"n": n, "BLOCK": 4}) for n in (1, 2, 5))


def test_a_first_value_is_rescaled_too() -> None:
    lines = """
        m = 0.25
        z = 3.0
        for k in range(n):
            x = tl.load(x_ptr + k)
            new = tl.maximum(m, x)
            z = z * tl.exp(m - new) + tl.exp(x - new)
            m = new
        tl.store(y_ptr, z)
    """
    assert all(closes(body(lines), {"n": n, "BLOCK": 4}) for n in (0, 1, 5))


def test_maxima_of_lanes_join() -> None:
    lines = """
        m = tl.full((BLOCK,), float("-inf"), tl.float32)
        z = tl.zeros((BLOCK,), tl.float32)
        for k in range(n):
            x = tl.load(x_ptr + k * BLOCK + tl.arange(0, BLOCK))
            new = tl.maximum(m, x)
            z = z * tl.exp(m - new) + tl.exp(x - new)
            m = new
        largest = tl.max(m, 0)
        tl.store(y_ptr, tl.sum(z * tl.exp(m - largest), 0))
    """
    assert closes(body(lines), {"n": 3, "BLOCK": 4})


NOT_RESCALED = {
    "the factor upside down": running("z = z * tl.exp(new - m) + tl.exp(x - new)"),
    "weights relative to the previous maximum": running("z = z * tl.exp(m - new) + tl.exp(x - m)"),
    "a product of two weights": running("z = z * tl.exp(m - new) + tl.exp(x - new) * tl.exp(x - new)"),
    "something that is no weight": running("z = z * tl.exp(m - new) + x"),
    "another exponential": running("z = z * tl.exp(m - new) + tl.exp2(x - new)"),
    "another scale": running("z = z * tl.exp((m - new) * 0.5) + tl.exp((x - new) * 0.25)"),
    "the maximum beside the weights": running("z = z * tl.exp(m - new) + tl.exp(x - new) * new"),
    "a condition on the maximum": running("z = z * tl.exp(m - new) + tl.where(new > 1.0, tl.exp(x - new), 0.0)"),
    "no minimum": running("z = z * tl.exp(m - new) + tl.exp(x - new)").replace("maximum", "minimum"),
    "a root of the sum": running("z = tl.sqrt(z) * tl.exp(m - new) + tl.exp(x - new)"),
}


@pytest.mark.parametrize("lines", NOT_RESCALED.values(), ids=NOT_RESCALED)
def test_what_is_no_rescaled_sum_stays_a_loop(lines: str) -> None:
    kernel = body(lines)
    (sink,) = close(kernel.arena, kernel.effects)
    assert "z" in {state.name for state in sink.states}
    assert all(closes(kernel, {"n": n, "BLOCK": 4}) for n in (0, 1, 3))


def test_attention_reads_like_attention() -> None:
    kernel = kernel_of("online", "attention_kernel")
    assert kernel.status == "lifted" and "weights are relative to the maximum of all, not to a running one" in (
        kernel.numerics
    )
    assert lines_of(kernel)[4:] == [
        "for h in I.parallel(I.domain(0, H)):",
        "product = I.matmul(q[h, l, d], k[h, l_2, d], acc_dtype=I.f32, transpose_rhs=True)",
        "k_term = product * scale",
        "k_max = I.reduce.max(k_term, axis=1)",
        "exp_k = I.exp(k_term - k_max[:, None])",
        "k_sum = I.reduce.sum(exp_k, axis=1)",
        "product_2 = I.matmul(exp_k, v[h, l_2, d], acc_dtype=I.f32)",
        "o[h, l, d] = product_2 / k_sum[:, None]",
        "lse[h, l] = k_max + I.log(k_sum)",
    ]


SCANS = {
    "cumsum_kernel": "y[m, cols] = I.cumsum(x[m, cols], axis=1)",
    "tiled_cumsum_kernel": "y[m, n] = I.cumsum(x[m, n], axis=1)",
    "running_total_kernel": "y[t, d] = I.cumsum(x[t, d], axis=0)",
    "suffix_sum_kernel": "y[t, d] = I.cumsum(x[t, d], axis=0, inclusive=False, reverse=True)",
    "chunk_cumsum_kernel": "out[m, members] = I.cumsum(gates[m, members], axis=1)",
    "running_peak_kernel": "fall[cols] = I.cummax(price_values, axis=0) - price_values",
}


@pytest.mark.parametrize(("kernel", "line"), SCANS.items(), ids=SCANS)
def test_scans_read_like_scans(kernel: str, line: str) -> None:
    assert lines_of(kernel_of("scans", kernel))[-1] == line


NOT_ONE_SCAN = {
    "another sum is carried": """
        s = 0.0
        for k in range(n):
            x = tl.load(x_ptr + k * BLOCK + tl.arange(0, BLOCK))
            tl.store(y_ptr + k * BLOCK + tl.arange(0, BLOCK), s + tl.cumsum(x, 0))
            s += tl.sum(x * 2.0, 0)
    """,
    "a gap between the parts": """
        s = 0.0
        for k in range(n):
            x = tl.load(x_ptr + k * BLOCK + tl.arange(0, BLOCK))
            tl.store(y_ptr + k * BLOCK + tl.arange(0, BLOCK), s + tl.cumsum(x, 0))
            s += tl.load(x_ptr + k * BLOCK)
    """,
    "parts that go on": """
        s = 0.0
        for k in range(n):
            x = tl.load(x_ptr + k * BLOCK + tl.arange(0, BLOCK))
            tl.store(y_ptr + k * BLOCK + tl.arange(0, BLOCK), s + tl.cumsum(x, 0))
            s += tl.sum(x, 0)
    """,
    "the last element of a part": """
        s = 0.0
        i = tl.arange(0, BLOCK)
        for k in range(n):
            c = s + tl.cumsum(tl.load(x_ptr + k * BLOCK + i), 0)
            tl.store(y_ptr + k * BLOCK + i, c)
            s = s + tl.sum(tl.where(i == BLOCK - 1, tl.cumsum(tl.load(x_ptr + k * BLOCK + i), 0), 0.0), 0)
    """,
    "from the end on": """
        i = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        tl.store(y_ptr + i, tl.cumsum(x, 0, reverse=True), mask=i < n)
    """,
    "a product": """
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=1.0)
        tl.store(y_ptr + i, tl.cumprod(x, 0), mask=i < n)
    """,
}


@pytest.mark.parametrize("lines", NOT_ONE_SCAN.values(), ids=NOT_ONE_SCAN)
def test_scans_store_the_same(lines: str) -> None:
    assert all(same(body(lines), n=n) for n in (1, 3, 4))


def test_prefixes_that_are_unequal_do_not_join() -> None:
    lines = textwrap.indent(textwrap.dedent(NOT_ONE_SCAN["another sum is carried"]), "    ")
    text = HEADER + "@triton.jit\ndef kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n" + lines
    (kernel,) = lift_text(text, "kernel.py").kernels
    assert " + " in lines_of(kernel)[-1]


STATES = {
    "gated_scan_kernel": """
        M, T, D = x.shape
        d = I.domain(0, D)
        for m in I.parallel(I.domain(0, M)):
        h = start[m, d]
        for t in range(T):
        h = I.exp(gate[m, t, d]) * h + x[m, t, d]
        out[m, t, d] = h
        last[m, d] = h
    """,
    "smoothing_kernel": """
        M, n = x.shape
        for m in I.parallel(I.domain(0, M)):
        level = x[m, 0]
        for t in range(n):
        level = weight * x[m, t] + (1.0 - weight) * level
        y[m, t] = level
    """,
    "backward_scan_kernel": """
        T, D = grad.shape
        d = I.domain(0, D)
        state = I.zeros((D,), I.f32)
        for t in range(T):
        grad_term = state + grad[T - 1 - t, d]
        out[T - 1 - t, d] = grad_term
        state = grad_term * decay[T - 1 - t, d]
    """,
    "linear_attention_kernel": """
        M, T, DK = q.shape
        DV = v.shape[2]
        dk = I.domain(0, DK)
        dv = I.domain(0, DV)
        for m in I.parallel(I.domain(0, M)):
        state = I.zeros((DK, DV), I.f32)
        for t in range(T):
        k_values = k[m, t, dk]
        k_sum = I.reduce.sum(k_values[:, None] * state, axis=0)
        state = state + k_values[:, None] * (v[m, t, dv] - k_sum)
        out[m, t, dv] = I.reduce.sum(q[m, t, dk][:, None] * state, axis=0)
    """,
    "longest_run_kernel": """
        M, n = x.shape
        for m in I.parallel(I.domain(0, M)):
        longest = I.cast(0, I.i32)
        run = I.cast(0, I.i32)
        for i in range(n):
        x_term = I.select(x[m, i] > 0.0, run + 1, 0)
        longest = I.maximum(longest, x_term)
        run = x_term
        out[m] = longest
    """,
}


@pytest.mark.parametrize(("kernel", "lines"), STATES.items(), ids=STATES)
def test_recurrences_read_like_recurrences(kernel: str, lines: str) -> None:
    assert lines_of(kernel_of("states", kernel)) == [line.strip() for line in lines.strip().splitlines()]


def test_a_running_sum_in_place_stays_a_loop() -> None:
    """As a scan it would read what it has stored."""
    lines = lines_of(kernel_of("states", "running_in_place_kernel"))
    assert lines[-3:] == ["x_value = x[m, t]", "total = total + x_value", "x[m, t] = total"]


POSITIONS = {
    "best_class_kernel": "best[m] = I.cast(I.arg_reduce.max(x_values, axis=1)[1], I.i32)",
    "smallest_place_kernel": "place[m] = I.cast(I.arg_reduce.max(-x[m, cols], axis=1)[1] + 1, I.i32)",
}


@pytest.mark.parametrize(("kernel", "line"), POSITIONS.items(), ids=POSITIONS)
def test_positions_of_extrema(kernel: str, line: str) -> None:
    made = kernel_of("rows", kernel)
    assert line in lines_of(made)
    assert verify((CORPUS / "rows.py").read_text(), "rows.py", made, calls=2).holds


NOT_POSITIONS = {
    "padding that wins": """
        i = tl.arange(0, BLOCK)
        tl.store(y_ptr, tl.argmax(tl.load(x_ptr + i, mask=i < n, other=0.0), 0))
    """,
    "a position within a block": """
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=-float("inf"))
        tl.store(y_ptr + tl.program_id(0), tl.argmax(x, 0))
    """,
}


@pytest.mark.parametrize("lines", NOT_POSITIONS.values(), ids=NOT_POSITIONS)
def test_positions_are_kept(lines: str) -> None:
    assert all(same(body(lines), n=n) for n in (1, 3, 4, 7))


NOT_LIFTED = {
    "an address that moves by what is loaded": """
        p = x_ptr
        for i in range(n):
            p += tl.load(ids_ptr + i)
        tl.store(y_ptr, tl.load(p))
    """,
    "a loop within a loop that carries on": """
        z = 0.0
        for i in range(n):
            for j in range(n):
                z = z * 0.5 + tl.load(x_ptr + i * n + j)
            z = z * 2.0
        tl.store(y_ptr, z)
    """,
    "a state that another program stores": """
        s = 0.0
        p = tl.program_id(0)
        for i in range(n):
            s = s * 0.5 + tl.load(y_ptr + (p + 1) * n + i)
            tl.store(y_ptr + p * n + i, s)
    """,
    "a state whose lanes are shuffled": """
        i = tl.arange(0, BLOCK)
        s = tl.load(x_ptr + i)
        for k in range(n):
            s = tl.reshape(tl.trans(tl.reshape(s, (2, BLOCK // 2))), (BLOCK,)) + 1.0
        tl.store(y_ptr + i, s)
    """,
}


@pytest.mark.parametrize("lines", NOT_LIFTED.values(), ids=NOT_LIFTED)
def test_what_carries_more_is_refused(lines: str) -> None:
    text = HEADER + "@triton.jit\ndef kernel(x_ptr, y_ptr, ids_ptr, n, BLOCK: tl.constexpr):\n"
    (kernel,) = lift_text(text + textwrap.indent(textwrap.dedent(lines), "    "), "kernel.py").kernels
    assert kernel.status == "unsupported" and kernel.reason


UPDATES = {
    "total_kernel": "total[()] = total[()] + x_sum",
    "bias_gradient_kernel": "bias[n] = bias[n] + grad_sum",
    "largest_kernel": "peak[n] = I.maximum(peak[n], x_max)",
    "embedding_gradient_kernel": "I.scatter_reduce(table, (I.cast(ids[ids_2], I.index), dim_domain), "
    "grad[ids_2, dim_domain], I.add)",
    "count_kernel": "I.scatter_reduce(counts, (I.cast(ids[n_domain], I.index),), 1, I.add)",
}


@pytest.mark.parametrize(("kernel", "line"), UPDATES.items(), ids=UPDATES)
def test_updates_are_reductions(kernel: str, line: str) -> None:
    made = kernel_of("updates", kernel)
    assert lines_of(made)[-1] == line
    assert "atomic updates come in any order, and round one by one" in made.numerics


NOT_REDUCTIONS = {
    "the old value is used": """
        old = tl.atomic_add(y_ptr, 1.0)
        tl.store(x_ptr + tl.program_id(0), old)
    """,
    "two updates of one array": """
        tl.atomic_add(y_ptr, 1.0)
        tl.atomic_max(y_ptr, tl.load(x_ptr + tl.program_id(0)))
    """,
    "an array that is read too": """
        i = tl.program_id(0)
        tl.atomic_add(y_ptr + i, tl.load(y_ptr + i + 1))
    """,
    "an exchange": "tl.atomic_xchg(y_ptr, tl.load(x_ptr + tl.program_id(0)))",
    "exclusive or by several": "tl.atomic_xor(y_ptr, tl.load(ids_ptr + tl.program_id(0)))",
}


@pytest.mark.parametrize("lines", NOT_REDUCTIONS.values(), ids=NOT_REDUCTIONS)
def test_updates_that_depend_on_order_are_refused(lines: str) -> None:
    text = HEADER + "@triton.jit\ndef kernel(x_ptr, y_ptr, ids_ptr, n, BLOCK: tl.constexpr):\n"
    (kernel,) = lift_text(text + textwrap.indent(textwrap.dedent(lines), "    "), "kernel.py").kernels
    assert kernel.status == "unsupported" and kernel.reason


WINDOWS = {
    "window_matmul_kernel": "c[m, n] = I.matmul(a[m, k], b[k, n], acc_dtype=I.f32)",
    "descriptor_scale_kernel": "y[m, n] = x[m, n] * factor",
    "chunk_scan_kernel": "sums[m, members, d] = I.cumsum(gates[m, members, d], axis=1)",
}


@pytest.mark.parametrize(("kernel", "line"), WINDOWS.items(), ids=WINDOWS)
def test_windows_are_views(kernel: str, line: str) -> None:
    assert lines_of(kernel_of("windows", kernel))[-1] == line


BOUNDARIES = {
    "one dimension that is not checked": "tl.load(w, boundary_check=(0,), padding_option='zero')",
    "none that is checked": "tl.load(w)",
    "not-a-numbers beside it": "tl.load(w, boundary_check=(0, 1), padding_option='nan')",
}


@pytest.mark.parametrize("load", BOUNDARIES.values(), ids=BOUNDARIES)
def test_boundaries_that_are_not_checked_stay(load: str) -> None:
    lines = f"""
        w = tl.make_block_ptr(x_ptr, (3, n), (n, 1), (0, 0), (BLOCK, BLOCK), (1, 0))
        tl.store(y_ptr + tl.arange(0, BLOCK), tl.sum({load}, axis=1))
    """
    assert same(body(lines), n=3)


CHUNKS = {
    "decay_sums_kernel": "sums[members, h] = I.cumsum(decay[members, h], axis=0)",
    "chunk_states_kernel": "out[p, CHUNK * group + i, d] = h",
    "chunk_totals_kernel": "totals[m, part] = I.reduce.sum(x[m, members], axis=1)",
}


@pytest.mark.parametrize(("kernel", "line"), CHUNKS.items(), ids=CHUNKS)
def test_chunks_that_are_seen_are_groups(kernel: str, line: str) -> None:
    made = kernel_of("chunks", kernel)
    assert made.status == "lifted with groups" and made.groups == ("CHUNK",)
    assert lines_of(made)[-1] == line


def test_a_number_of_programs_that_nobody_says_is_whole() -> None:
    notes = {note.text for note in kernel_of("chunks", "decay_sums_kernel").notes if note.basis == "assumed"}
    assert "the number of programs, programs_0, is a multiple of H" in notes


PREDICATES = {
    "early_rows_kernel": "y[rows_domain, n] = I.maximum_num(x[rows_domain, n], 0.0)",
    "ignored_loss_kernel": "loss[m] = logits_max + I.log(logits_sum) - logits[m, targets_value]",
    "segment_sum_kernel": "out[m] = I.reduce.sum(x[members], axis=0)",
    "persistent_scale_kernel": "y[n_domain] = x[n_domain] * 2.0",
    "grid_stride_sum_kernel": "sums[()] = sums[()] + x_sum",
    "permuted_rows_kernel": "I.scatter_unique(y, (I.cast(order[m], I.index), d), x[m, d])",
    "filtered_sum_kernel": "out[m] = I.reduce.sum(I.gather(x, (m, n), valid=keep[m, n] != 0.0, fill=0.0), axis=1)",
}


@pytest.mark.parametrize(("kernel", "line"), PREDICATES.items(), ids=PREDICATES)
def test_predicates_and_segments(kernel: str, line: str) -> None:
    made = kernel_of("predicates", kernel)
    assert made.status == "lifted" and lines_of(made)[-1] == line


def test_segments_are_the_coordinates_that_memory_bounds() -> None:
    lines = lines_of(kernel_of("predicates", "segment_sum_kernel"))
    assert "members = I.domain(I.cast(offsets[m], I.index), I.cast(offsets[m + 1], I.index))" in lines


def test_scattered_rows_rest_on_an_assumption() -> None:
    notes = {note.text for note in kernel_of("predicates", "permuted_rows_kernel").notes if note.basis == "assumed"}
    assert "elements of order that select what is stored are all different" in notes


ROUNDS = {
    "blocks in turn": """
        for k in range(tl.program_id(0), tl.cdiv(n, BLOCK), 2):
            i = k * BLOCK + tl.arange(0, BLOCK)
            tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
    """,
    "fewer rounds than there are": """
        for k in range(tl.program_id(0), tl.cdiv(n, BLOCK) - 1, 2):
            i = k * BLOCK + tl.arange(0, BLOCK)
            tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
    """,
    "steps that leave blocks out": """
        for k in range(tl.program_id(0), tl.cdiv(n, BLOCK), 3):
            i = k * BLOCK + tl.arange(0, BLOCK)
            tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
    """,
}


@pytest.mark.parametrize("lines", ROUNDS.values(), ids=ROUNDS)
def test_rounds_store_the_same(lines: str) -> None:
    assert all(same(body(lines), n=n) for n in (1, 4, 7, 9))


SCATTERED = {
    "a coordinate made of what is read": "tl.store(y_ptr + tl.load(ids_ptr + i) * 2 // 3, tl.load(x_ptr + i))",
    "the sum of two": "tl.store(y_ptr + tl.load(ids_ptr + i) + tl.load(ids_ptr + i + 1), tl.load(x_ptr + i))",
}


@pytest.mark.parametrize("lines", SCATTERED.values(), ids=SCATTERED)
def test_scattered_stores_that_may_meet_are_refused(lines: str) -> None:
    text = (
        HEADER + "@triton.jit\ndef kernel(x_ptr, y_ptr, ids_ptr, n, BLOCK: tl.constexpr):\n    i = tl.program_id(0)\n"
    )
    (kernel,) = lift_text(text + textwrap.indent(lines, "    "), "kernel.py").kernels
    assert kernel.status == "unsupported" and kernel.reason


def test_causal_attention_is_masked() -> None:
    kernel = kernel_of("online", "causal_attention_kernel")
    assert kernel.status == "lifted"
    assert lines_of(kernel)[-6:] == [
        "value_term = I.indices(l_2) <= I.indices(l)[:, None]",
        "k_max = I.reduce.max(I.select(value_term, k_term, -I.inf), axis=1)",
        "k_term_2 = I.select(value_term, I.exp(k_term - k_max[:, None]), 0.0)",
        "k_sum = I.reduce.sum(k_term_2, axis=1)",
        "product_2 = I.matmul(k_term_2, v[h, l_2, d], acc_dtype=I.f32)",
        "o[h, l, d] = product_2 / k_sum[:, None]",
    ]
    found = verify((CORPUS / "online.py").read_text(), "online.py", kernel, calls=2)
    assert found.holds, str(found)


@pytest.mark.parametrize("name", ["online", "scans", "states", "updates", "windows", "chunks", "predicates"])
def test_lifted_kernels_agree_with_the_originals(name: str) -> None:
    text = (CORPUS / f"{name}.py").read_text()
    for kernel in lifted(name).kernels:
        if kernel.name == "descriptor_scale_kernel":
            continue  # the interpreter asks for strides of whole 16 bytes
        found = verify(text, f"{name}.py", kernel, calls=2)
        assert found.holds, (kernel.name, kernel.reason, str(found))


LANES_OF_THEIR_OWN = """
import triton
import triton.language as tl


@triton.jit
def lanes(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + n, mask=n < N, other=float("-inf"))
        new = tl.maximum(largest, x)
        total = total * tl.exp(largest - new) + tl.exp(x - new)
        largest = new
    all_of_them = tl.max(largest, 0)
    tl.store(out_ptr + row, tl.sum(total * tl.exp(largest - all_of_them), 0))
"""


def test_a_lane_without_elements_is_an_assumption() -> None:
    """Where BLOCK exceeds N, some lanes meet no element, and the original gives NaN."""
    (kernel,) = lift_text(LANES_OF_THEIR_OWN, "lanes.py").kernels
    assert kernel.status == "lifted", kernel.reason
    assert ("assumed", "every lane of largest meets an element; one that does not gives NaN") in {
        (note.basis, note.text) for note in kernel.notes
    }
