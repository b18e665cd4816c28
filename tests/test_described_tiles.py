"""Tiles that are read through tensor descriptors: which may be, and that results are those of plain loads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from types import ModuleType, SimpleNamespace

import numpy as np
import program_runs
import pytest
import torch
import triton.language as tl
from generated_modules import permuted_programs

from translators.pipeline import compile_text
from translators.planning import product_layouts
from translators.triton_source.launch import TILES, Variant

PRODUCT = """
    @intent.kernel
    def k(a: I.In[I.{a}, ("M", "K")], b: I.In[I.{b}, ("K", "N")], w: I.In[I.f16, ("N",)], c: I.Out[I.f16, ("M", "N")]):
        t = {product} + I.cast(w[:], I.f32)[None, :]
        c[:, :] = I.cast(I.select(t > 0.0, t, 0.5 * t), I.f16)
"""
PLAIN = "I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)"
ATTENTION = (Path(__file__).resolve().parents[1] / "benchmarks" / "workloads" / "attention.py").read_text("utf-8")
WIDE = {"M": 205, "K": 80, "N": 784}  # neither tiles of 128 x 256 nor steps of 64 fit


def variants(text: str) -> list[Variant]:
    found = program_runs.compiled(text)
    assert found.source is not None
    return [variant for code in found.codes for variant in code.variants]


def described(text: str) -> list[Variant]:
    return [variant for variant in variants(text) if variant.described]


@pytest.fixture
def three_processors(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of PRODUCT, as on a device with three processors that copy tiles, for which few tiles are many."""
    monkeypatch.setattr(product_layouts, "WIDE_TILES", 4)
    text = program_runs.HEADER + dedent(PRODUCT.format(a="f16", b="f16", product=PLAIN))
    module = program_runs._imported(compile_text(text, "test.py").source or "")
    monkeypatch.setattr(module, "_tile_processors", lambda index, *views: 3)
    return module


def _matrices(sizes: Mapping[str, int]) -> list[np.ndarray]:
    generator = np.random.default_rng(sum(sizes.values()))
    shapes = (sizes["M"], sizes["K"]), (sizes["K"], sizes["N"]), (sizes["N"],)
    return [generator.standard_normal(shape).astype(np.float16) for shape in shapes]


@pytest.mark.parametrize("permuted", [False, True])
def test_a_large_product(three_processors: ModuleType, permuted: bool) -> None:
    """Programs that take one tile after the other write all of the result once, with rows and columns that are cut."""
    a, b, w = _matrices(WIDE)
    t = a.astype(np.float32) @ b.astype(np.float32) + w.astype(np.float32)
    wanted = np.where(t > 0, t, 0.5 * t).astype(np.float16)
    found = np.full(wanted.shape, np.nan, np.float16)
    if permuted:
        with permuted_programs():
            three_processors.k_out(a, b, w, found)
    else:
        three_processors.k_out(a, b, w, found)
    np.testing.assert_allclose(found.astype(np.float32), wanted.astype(np.float32), rtol=2e-3, atol=2e-3)


def test_the_same_as_plain_loads(three_processors: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = _matrices(WIDE)
    found = three_processors.k(*arrays)
    monkeypatch.setattr(three_processors, "_tile_processors", lambda index, *views: 0)
    np.testing.assert_array_equal(found, three_processors.k(*arrays))


def test_rows_that_are_not_aligned(three_processors: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operands are copied into rows that are, in every call; what lies behind these rows is not read."""
    module, aligned = three_processors, three_processors._in_aligned_rows
    seen: list[tuple[int, ...]] = []

    def noted(view: torch.Tensor) -> torch.Tensor:
        seen.append(view.stride())
        return aligned(view)

    monkeypatch.setattr(module, "_tile_processors", lambda index, *views: 3 * all(map(module._aligned, views)))
    monkeypatch.setattr(module, "_in_aligned_rows", noted)
    a, b, w = map(torch.from_numpy, _matrices({"M": 770, "K": 83, "N": 776}))
    for factor in (1, 2):
        found = module.k_device(a * factor, b, w)
        t = (a * factor).float() @ b.float() + w.float()
        torch.testing.assert_close(found.float(), torch.where(t > 0, t, 0.5 * t), rtol=2e-3, atol=2e-3)
    assert seen == [(83, 1), (776, 1)] * 2
    assert not module._rows_to_align((torch.zeros(800, 0),), 3)


def test_values_that_are_no_numbers(three_processors: ModuleType) -> None:
    """What lies beyond the arrays is zero, also beside elements that are infinite."""
    a, b, w = _matrices(WIDE)
    a[7, 3], b[5, 11] = np.inf, np.nan
    found = three_processors.k(a, b, w)
    wrong = ~np.isfinite(found)
    assert wrong[7].all() and wrong[:, 11].all() and wrong.sum() == WIDE["N"] + WIDE["M"] - 1


@pytest.mark.parametrize("sizes", [(1, 1, 17, 1, 8), (1, 2, 130, 140, 40)])
@pytest.mark.parametrize("causal", [False, True])
def test_attention(monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], causal: bool) -> None:
    batches, heads, queries, keys, width = sizes
    if causal:
        keys = queries
    module = program_runs._imported(program_runs._compiled(ATTENTION, "source", False, False).source or "")
    generator = np.random.default_rng(queries + width)
    shapes = ((batches, heads, n, width) for n in (queries, keys, keys))
    q, k, v = (generator.standard_normal(shape).astype(np.float16) for shape in shapes)
    run = module.attention_causal if causal else module.attention_full
    monkeypatch.setattr(module, "_tile_processors", lambda index, *views: 132)
    found = run(q, k, v, width**-0.5)
    monkeypatch.setattr(module, "_tile_processors", lambda index, *views: 0)
    np.testing.assert_allclose(found.astype(float), run(q, k, v, width**-0.5).astype(float), rtol=4e-3, atol=4e-3)
    scores = np.einsum("bhsd,bhtd->bhst", q.astype(float), k.astype(float)) * width**-0.5
    if causal:
        scores = np.where(np.tri(queries, keys, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    wanted = np.einsum("bhst,bhtd->bhsd", weights / weights.sum(axis=-1, keepdims=True), v.astype(float))
    np.testing.assert_allclose(found.astype(float), wanted, rtol=4e-3, atol=4e-3)


def test_descriptors_are_a_choice_of_their_own() -> None:
    found = variants(PRODUCT.format(a="f16", b="f16", product=PLAIN))
    assert [variant.described for variant in found].count(True) == 1  # of large products; not for few rows
    first = found[0]
    assert first.described
    assert first.condition is not None and first.condition.startswith(f"{TILES} and N >= 768")
    assert first.grid == f"min(triton.cdiv(M, 128) * triton.cdiv(N, 256), {TILES})"
    assert first.source.count("make_tensor_descriptor") == 3 and "tl.load(a_ptr" not in first.source
    assert "make_tensor_descriptor" not in found[1].source


@pytest.mark.parametrize(
    "values",
    [
        {"a": "f32", "b": "f32", "product": PLAIN},  # no element of 16 bits
        {"a": "f16", "b": "f16", "product": "I.matmul(a[:, :] * 2.0, b[:, :], acc_dtype=I.f32)"},
        {"a": "f16", "b": "f16", "product": "I.matmul(a[:, 0:128], b[0:128, :], acc_dtype=I.f32)"},  # beyond: no zeros
    ],
)
def test_what_descriptors_cannot_tell(values: dict[str, str]) -> None:
    assert not described(PRODUCT.format(**values))


def test_what_the_kernel_writes_itself() -> None:
    text = PRODUCT.format(a="f16", b="f16", product=PLAIN).replace("a: I.In[", "a: I.InOut[")
    assert not described(text + "        a[:, :] = I.cast(0.0, I.f16)\n")


class _View:
    """As much of a tensor on a GPU as the module asks it for."""

    device = torch.device("cuda")

    def __init__(self, *strides: int, address: int = 256, elements: int = 64) -> None:
        self.strides, self.address, self.elements = strides, address, elements

    def stride(self, axis: int | None = None) -> tuple[int, ...] | int:
        return self.strides if axis is None else self.strides[axis]

    def dim(self) -> int:
        return len(self.strides)

    def numel(self) -> int:
        return self.elements

    def data_ptr(self) -> int:
        return self.address

    def element_size(self) -> int:
        return 2


def test_arrays_that_descriptors_can_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """All processors where arrays are aligned and not empty; none elsewhere, nor on devices without such copies."""
    module = program_runs.module(PRODUCT.format(a="f16", b="f16", product=PLAIN))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(multi_processor_count=132))
    count = module._tile_processors
    assert count(tl.int32, _View(64, 1), _View(1), _View(), _View(96, 32, 1), _View(72, 1)) == 132
    refused = [
        _View(0, 1),
        _View(63, 1),
        _View(68, 1),
        _View(64, 2),
        _View(64, 1, address=8),
        _View(64, 1, elements=0),
        _View(2),
    ]
    assert [count(tl.int32, _View(64, 1), each) for each in refused] == [0] * len(refused)
    assert count(tl.int64, _View(64, 1)) == 0
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 0))
    assert count(tl.int32, _View(64, 1)) == 0
    assert count(tl.int32, torch.zeros((64, 64), dtype=torch.float16)) == 0


def test_folds_whose_tiles_take_the_registers_themselves() -> None:
    """A window, and scores that a tanh caps, leave no room for longer slices."""
    text = (Path(__file__).resolve().parents[1] / "samples" / "grouped_query_attention.py").read_text("utf-8")
    assert not any(variant.described for variant in compile_text(text, "k.py").codes[0].variants)
