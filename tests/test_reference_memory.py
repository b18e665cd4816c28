"""Indexing, effects and bounds on the reference: every expected value is worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from reference_programs import CHECKED, HEADER, f32, i32, kernel, of, only, outputs

from translators.logical.reference import ArgumentError, IllegalInput, Options, allocate_outputs, evaluate, run

COUNT = np.arange(12, dtype=np.float32).reshape(3, 4)


# ------------------------------------------------------------------------------------------------------------- indexing
def test_regions_and_subregions() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "P")]):
        M, N = x.shape
        rows = I.domain(0, M)
        columns = I.domain(0, N)
        y[columns, rows[1:]] = I.transpose(x[rows[1:], columns])
    """
    y = outputs(text, x=COUNT, extents={"P": 3})["y"]
    assert y[:, 1:].tolist() == [[4, 8], [5, 9], [6, 10], [7, 11]]


def test_joint_tensor_indices_pair_and_domains_add_axes() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("M", "N")], r: I.In[I.i32, ("K",)], c: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)],
          z: I.Out[I.f32, ("K", "N")], w: I.Out[I.f32, ("K", "K")]):
        y[:] = x[r[:], c[:]]
        z[:, :] = x[r[:], :]
        w[:, :] = x[I.reshape(r[:], (r.shape[0], 1)), c[:]]
    """
    got = outputs(text, x=COUNT, r=i32(2, 0), c=i32(3, 1))
    assert got["y"].tolist() == [11, 1]
    assert got["z"].tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    assert got["w"].tolist() == [[11, 9], [3, 1]]


def test_scalars_new_axes_and_negative_indices() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", 1)], z: I.Out[I.f32, ()]):
        y[:, :] = x[1, :, None]
        z[()] = x[-1, -2]
    """
    got = outputs(text, x=COUNT)
    assert got["y"].tolist() == [[4], [5], [6], [7]]
    assert got["z"].tolist() == 10


def test_shifted_reads_and_value_indexing() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        n = I.domain(1, x.shape[0])
        v = x[n]
        y[n] = x[I.indices(n) - 1] + v[0]
        y[0] = v[v.shape[0] - 1]
    """
    assert only(text, x=f32(1, 2, 4, 8)) == [8, 3, 4, 6]


def test_stepped_domain() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
        odd = I.domain(1, x.shape[0], 2)
        y[odd] = x[odd] * 10
        for i in range(0, x.shape[0], 3):
            y[i] = -1
    """
    y = i32(0, 0, 0, 0, 0)
    evaluate(kernel(text), {"x": i32(1, 2, 3, 4, 5), "y": y}, CHECKED)
    assert y.tolist() == [-1, 20, 0, -1, 0]


def test_gather_does_not_touch_invalid_members() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], j: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)], z: I.Out[I.f32, ("K",)]):
        index = j[:]
        ok = (index >= 0) & (index < 3)
        y[:] = I.gather(x, (index,), valid=ok, fill=-1.0)
        z[:] = I.gather(x, (index,), valid=ok)
    """
    got = outputs(text, x=f32(5, 6, 7), j=i32(2, -1, 0, 99))
    assert got["y"].tolist() == [7, -1, 5, -1]
    assert got["z"].tolist() == [7, 0, 5, 0]


def test_gather_from_an_empty_source() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], j: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)]):
        y[:] = I.gather(x, (j[:],), valid=j[:] >= 5, fill=3.0)
    """
    assert only(text, x=f32(), j=i32(0, 1)) == [3, 3]


# --------------------------------------------------------------------------------------------------------------- bounds
OUT_OF_BOUNDS = """
@intent.kernel
def k(x: I.In[I.f32, ("N",)], j: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)]):
    y[:] = x[j[:]]
"""


@pytest.mark.parametrize("index", [-1, 3])
def test_out_of_bounds_is_illegal_with_its_place(index: int) -> None:
    with pytest.raises(IllegalInput, match=rf"index {index} is out of bounds for axis 0 of 'x' \(extent 3\)") as caught:
        only(OUT_OF_BOUNDS, x=f32(1, 2, 3), j=i32(0, index))
    assert caught.value.span is not None and caught.value.span.line == HEADER.count("\n") + 4


def test_writes_out_of_bounds_are_illegal() -> None:
    text = """
    @intent.kernel
    def k(j: I.i32, y: I.Out[I.f32, ("N",)]):
        y[j] = 0.0
    """
    with pytest.raises(IllegalInput, match="index 4 is out of bounds for axis 0 of 'y'"):
        only(text, extents={"N": 4}, j=4)


def test_subregions_stay_within_their_source() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], b: I.index, y: I.Out[I.f32, ()]):
        n = I.domain(1, x.shape[0])
        y[()] = I.reduce.sum(x[n[b:]], axis=0)
    """
    assert only(text, x=f32(1, 2, 3), b=2) == 3
    assert only(text, x=f32(1, 2, 3), b=3) == 0
    with pytest.raises(IllegalInput, match="outside its source"):
        only(text, x=f32(1, 2, 3), b=0)


def test_assume_in_bounds_is_checked() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], j: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)]):
        index = j[:]
        I.assume_in_bounds(index, x, axis=0)
        y[:] = x[index]
    """
    assert only(text, x=f32(1, 2), j=i32(1, 0)) == [2, 1]
    with pytest.raises(IllegalInput, match="assume_in_bounds fails"):
        only(text, x=f32(1, 2), j=i32(2, 0))


# ---------------------------------------------------------------------------------------------------- effects and order
def test_reads_are_snapshots_and_statements_keep_their_order() -> None:
    text = """
    @intent.kernel
    def k(x: I.InOut[I.f32, ("N",)]):
        n = I.domain(0, x.shape[0])
        before = x[n]
        x[n] = before * 2.0
        x[n] = before + x[n]
    """
    x = f32(1, 2)
    evaluate(kernel(text), {"x": x}, CHECKED)
    assert x.tolist() == [3, 6]


def test_overlapping_views_see_each_others_writes() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        for i in range(x.shape[0]):
            y[i] = x[i] + 1.0
    """
    memory = f32(0, 0, 0, 0)
    evaluate(kernel(text), {"x": memory[:3], "y": memory[1:]}, CHECKED)
    assert memory.tolist() == [0, 1, 2, 3]


def test_strided_and_reversed_arguments() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
        y[:, :] = x[:, :] * 2.0
    """
    storage = np.zeros((4, 6), np.float32)
    evaluate(kernel(text), {"x": COUNT[::-1, ::2].T, "y": storage[::2, ::2]}, CHECKED)
    assert storage[::2, ::2].tolist() == [[16, 8, 0], [20, 12, 4]]


def test_reading_an_unwritten_output_is_illegal() -> None:
    text = """
    @intent.kernel
    def k(n: I.index, y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ()]):
        y[0] = 1.0
        z[()] = y[n]
    """
    assert outputs(text, n=0, extents={"N": 2})["z"].tolist() == 1
    with pytest.raises(IllegalInput, match="'y' is read before it is written"):
        outputs(text, n=1, extents={"N": 2})


def test_augmented_assignment_on_inout() -> None:
    text = """
    @intent.kernel
    def k(x: I.InOut[I.i8, ("N",)]):
        for i in I.parallel(I.domain(0, x.shape[0])):
            x[i] += 100
    """
    x = np.asarray([1, 100], np.int8)
    evaluate(kernel(text), {"x": x}, Options(permute=np.random.default_rng(0)))
    assert x.tolist() == [101, -56]


# -------------------------------------------------------------------------------------------------------------- buffers
def test_buffers_are_fresh_for_every_point() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
        M, N = x.shape
        for i in I.parallel(I.domain(0, M)):
            total = I.buffer((1,), I.i32, init=0)
            for j in range(N):
                total[0] = total[0] + x[i, j]
            y[i] = I.mutable_load(total, (0,))
    """
    assert only(text, x=np.arange(6, dtype=np.int32).reshape(2, 3)) == [3, 12]


def test_buffer_with_tensor_init_and_store() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        scratch = I.buffer((x.shape[0],), I.f32, init=x[:])
        I.store(scratch, (0,), 9.0)
        y[:] = scratch[:]
    """
    assert only(text, x=f32(1, 2)) == [9, 2]


# --------------------------------------------------------------------------------------------------- scatters, atomics
def test_scatter_reduce_combines_repeated_destinations() -> None:
    text = """
    @intent.kernel
    def k(j: I.In[I.i32, ("K",)], v: I.In[I.i32, ("K",)], total: I.InOut[I.i32, ("N",)], top: I.InOut[I.i32, ("N",)]):
        n = I.domain(0, j.shape[0])
        I.scatter_reduce(total, index=(j[n],), value=v[n], combine=I.add)
        I.scatter_reduce(top, index=(j[n],), value=v[n], combine=I.maximum)
    """
    total, top = i32(0, 10, 0), i32(0, 10, 0)
    evaluate(kernel(text), {"j": i32(1, 2, 1), "v": i32(5, -3, 7), "total": total, "top": top}, CHECKED)
    assert total.tolist() == [0, 22, -3]
    assert top.tolist() == [0, 10, 0]


def test_scatter_unique_refuses_repeated_destinations() -> None:
    text = """
    @intent.kernel
    def k(j: I.In[I.i32, ("K",)], v: I.In[I.f32, ("K",)], y: I.InOut[I.f32, ("N",)]):
        I.scatter_unique(y, index=(j[:],), value=v[:])
    """
    y = f32(0, 0, 0)
    evaluate(kernel(text), {"j": i32(2, 0), "v": f32(5, 6), "y": y}, CHECKED)
    assert y.tolist() == [6, 0, 5]
    with pytest.raises(IllegalInput, match="scatter_unique"):
        evaluate(kernel(text), {"j": i32(2, 2), "v": f32(5, 6), "y": y}, CHECKED)


def test_atomics_return_the_old_value() -> None:
    text = """
    @intent.kernel
    def k(c: I.InOut[I.i32, ("N",)], old: I.Out[I.i32, ("K",)], swapped: I.Out[I.bool, ("K",)]):
        for i in I.parallel(I.domain(0, old.shape[0])):
            old[i] = I.atomic.add(c, index=(0,), value=5, order="relaxed")
            r = I.atomic.compare_exchange(c, index=(1,), expected=7, desired=8, order="relaxed")
            swapped[i] = r.success
    """
    c = i32(1, 7)
    got = outputs(text, c=c, extents={"K": 3})
    assert c.tolist() == [16, 8]
    assert got["old"].tolist() == [1, 6, 11]
    assert got["swapped"].tolist() == [True, False, False]


def test_atomic_tile_with_repeated_destinations() -> None:
    text = """
    @intent.kernel
    def k(j: I.In[I.i32, ("K",)], c: I.InOut[I.i32, ("N",)], old: I.Out[I.i32, ("K",)]):
        old[:] = I.atomic.max(c, index=(j[:],), value=j[:] * 10, order="relaxed")
    """
    c = i32(0, 0, 25)
    assert only(text, j=i32(1, 2, 1), c=c) == [0, 25, 10]
    assert c.tolist() == [0, 10, 25]


# ------------------------------------------------------------------------------------------------------------ arguments
ADD = """
@intent.kernel
def add(x: I.In[I.f32, ("M", "N")], y: I.In[I.f32, ("N",)], s: I.i8, z: I.Out[I.f32, ("M", "N")]):
    z[:, :] = x[:, :] + y[:]
"""


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x": COUNT.astype(np.float64)}, "'x' must have dtype f32, not float64"),
        ({"x": COUNT[0]}, "'x' must have rank 2, not 1"),
        ({"y": f32(1, 2, 3)}, "axis 0 of 'y' must have extent N = 4, not 3"),
        ({"s": 1.5}, "'s' must be of dtype i8, not float"),
        ({"s": 300}, "300 does not fit 's' of dtype i8"),
        ({"s": True}, "'s' must be of dtype i8, not bool"),
        ({"x": [1.0]}, "'x' must be a NumPy array, not list"),
        ({"w": 1}, "'add' has no parameter 'w'"),
    ],
)
def test_arguments_are_checked(changed: dict[str, object], message: str) -> None:
    arguments = {"x": COUNT, "y": f32(1, 2, 3, 4), "s": 1} | changed
    with pytest.raises(ArgumentError, match=message):
        run(kernel(ADD), arguments)


def test_missing_and_read_only_arguments() -> None:
    with pytest.raises(ArgumentError, match="the argument 'y' is missing"):
        run(kernel(ADD), {"x": COUNT, "s": 1})
    z = np.zeros((3, 4), np.float32)
    z.flags.writeable = False
    with pytest.raises(ArgumentError, match="'z' is written, but the array is read-only"):
        evaluate(kernel(ADD), {"x": COUNT, "y": f32(1, 2, 3, 4), "s": 1, "z": z})


def test_extents_that_only_an_output_has() -> None:
    text = """
    @intent.kernel
    def k(x: I.f32, y: I.Out[I.f32, ("G",)]):
        y[:] = x
    """
    with pytest.raises(ArgumentError, match="the extent 'G' of 'y' occurs in no input"):
        allocate_outputs(kernel(text), {"x": 1.0})
    assert only(text, x=1.5, extents={"G": 2}) == [1.5, 1.5]


def test_bf16_and_f8_arguments() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.bf16, ("N",)], y: I.Out[I.f8e5m2, ("N",)]):
        y[:] = I.cast(x[:] + x[:], I.f8e5m2)
    """
    got = outputs(text, x=of("bf16", [1.0, 1.1]))["y"]
    assert got.astype(float).tolist() == [2.0, 2.0]
