"""Which tiles matrix products get: more columns where the sizes allow them and nothing else needs the registers."""

from __future__ import annotations

from pathlib import Path

import generated_modules
import pytest
import sample_files

from translators.pipeline import compile_text
from translators.planning import product_layouts
from translators.triton_source.launch import Variant

KERNEL = """import intent
import intent.language as I

@intent.kernel
def k(a: I.In[I.{dtype}, ({m}, {k})], b: I.In[I.{dtype}, ({k}, {n})], c: I.Out[I.f32, ({m}, {n})]):
    c[:, :] = {value}
"""
PRODUCT = "I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)"
SYMBOLS = {"m": '"M"', "k": '"K"', "n": '"N"'}


def variants(value: str = PRODUCT, dtype: str = "f16", **sizes: object) -> tuple[Variant, ...]:
    compiled = compile_text(KERNEL.format(dtype=dtype, value=value, **(SYMBOLS | sizes)), "k.py")
    assert compiled.source is not None, compiled.diagnostics
    return compiled.codes[0].variants


def plain(value: str = PRODUCT, **sizes: object) -> tuple[Variant, ...]:
    """Those for many rows that read operands with plain loads."""
    found = variants(value, **sizes)
    return tuple(each for each in found if not each.described and each.constants[0][1] >= 128)


def columns(found: tuple[Variant, ...]) -> list[int]:
    return [variant.constants[1][1] for variant in found]  # rows, columns, depth


def test_large_aligned_products_have_more_columns() -> None:
    found = plain()
    assert columns(found) == [256, 128]
    assert found[0].condition == "N >= 768 and M * N >= 3145728 and K % 16 == 0 and N % 16 == 0"
    assert found[0].source == found[1].source and found[1].condition is None


def test_products_of_few_rows_have_tiles_for_so_many() -> None:
    found = [each for each in variants() if each.constants[0][1] < 128]
    assert [(each.condition, [size for _, size in each.constants[:3]]) for each in found] == [
        ("M <= 16", [16, 32, 128]), ("M <= 64", [64, 128, 64]),
    ]  # fmt: skip
    assert not [each for each in variants(m=16) if each.constants[0][1] > 16]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"m": 4096, "k": 4096, "n": 4096}, [256]),
        ({"m": 4096, "k": 4096, "n": 512}, [128]),
        ({"m": 256, "k": 4096, "n": 4096}, [128]),
        ({"m": 4096, "k": 4100, "n": 4096}, [128]),
        ({"n": 1024}, [256, 128]),
    ],
)
def test_fixed_sizes_decide_early(sizes: dict[str, int], expected: list[int]) -> None:
    assert columns(plain(**sizes)) == expected


def test_what_is_computed_from_a_product_needs_no_registers_beside_it() -> None:
    assert columns(plain(f"I.tanh({PRODUCT})")) == [256, 128]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (PRODUCT, "f32"),
        ("I.matmul(a[:, :] * 2.0, b[:, :], acc_dtype=I.f32)", "f16"),
        (f"{PRODUCT} * I.reduce.sum(a[:, :], axis=1)[:, None]", "f16"),
    ],
)
def test_registers_that_are_needed_elsewhere(value: str, dtype: str) -> None:
    assert 256 not in columns(variants(value, dtype))


NORMALISED = f"I.exp({PRODUCT} - I.reduce.max({PRODUCT}, axis=1)[:, None])"


def test_rows_of_a_product_stay_on_chip_as_far_as_an_accumulator_may_be_long() -> None:
    found = variants(NORMALISED)
    assert [variant.condition for variant in found] == ["N <= 64", "N <= 128", "N <= 256", None]
    tiles = [dict(variant.constants) for variant in found]
    assert [tile["BLOCK_M"] * tile["BLOCK_N"] for tile in tiles] == [8192, 16384, 16384, 8192]
    assert all(variant.cuda.warps == 8 for variant in found)


@pytest.mark.parametrize(("columns", "streamed"), [(256, False), (1024, True)])
def test_rows_of_a_product_of_fixed_length(columns: int, streamed: bool) -> None:
    (found,) = variants(NORMALISED, n=columns)
    assert ("streamed: 64 i" in found.plan or "; streamed: 64 n" in found.plan) is streamed, found.plan


def test_products_of_doubles_use_matrix_units() -> None:
    doubles = KERNEL.replace("I.f32", "I.f64")
    value = PRODUCT.replace("f32", "f64")
    for product, size in ((value, 64), (f"{value} + I.matmul(b[:, :], a[:, :], acc_dtype=I.f64)", 32)):
        text = doubles.format(dtype="f64", value=product, m='"M"', k='"M"', n='"M"')
        (variant,) = compile_text(text, "k.py").codes[0].variants
        assert (
            'input_precision="ieee", out_dtype=tl.float64)' in variant.source
        )  # AMD fails without, and f32 is inferred
        assert [each for _, each in variant.constants] == [size, size, 16]


def test_wide_tiles_in_the_interpreter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a tail of rows and of columns; as few tiles as they are worth it for, so that it is quick."""
    monkeypatch.setattr(product_layouts, "WIDE_TILES", 1)
    path = tmp_path / "wide_gemm.py"
    path.write_text((sample_files.SAMPLES / "gemm.py").read_text(encoding="utf-8"), encoding="utf-8")
    (sample,) = sample_files.kernels_of(path)
    case = {"M": 129, "K": 80, "N": 784}
    values = sample_files.arguments(sample, case)
    wanted = sample_files.expected(sample, case, values)
    actual = generated_modules.by_module(sample, case, values)
    assert "M * N >= 32768" in str(generated_modules.compilation(path).codes[0].variants[0].condition)
    assert not sample_files.differences(sample, actual, wanted)


STEPS = """import intent
import intent.language as I

@intent.kernel
def k(a: I.In[I.{dtype}, ("M", "G", {depth})], b: I.In[I.{dtype}, ("N", "G", {depth})], c: I.Out[I.f32, ("M", "N")]):
    total = I.full((a.shape[0], b.shape[0]), {initial}, dtype=I.f32)
    for g in range(a.shape[1]):
        total = total + {factor} I.matmul(a[:, g, :], b[:, g, :], acc_dtype=I.f32, transpose_rhs=True)
    c[:, :] = total
"""


def steps(depth: int = 32, dtype: str = "f16", initial: float = 0.0, factor: str = "") -> tuple[Variant, ...]:
    compiled = compile_text(STEPS.format(depth=depth, dtype=dtype, initial=initial, factor=factor), "k.py")
    assert compiled.source is not None, compiled.diagnostics
    return compiled.codes[0].variants


@pytest.mark.parametrize(("depth", "dtype"), [(32, "f16"), (64, "f16"), (32, "bf16")])
def test_steps_of_a_loop_that_only_adds_products_are_one_product(depth: int, dtype: str) -> None:
    found = steps(depth, dtype)
    assert [[size for _, size in each.constants[:3]] for each in found] == [
        [128, 256, 64], [16, 32, 128], [64, 128, 64], [128, 128, 64],
    ]  # fmt: skip
    assert all(
        f"end = tl.cast(G, INDEX) * {depth}" in each.source and "range(0, end, BLOCK_I)" in each.source
        for each in found
    )


@pytest.mark.parametrize(
    "facts",
    [
        {"depth": 16},  # instructions would add up several steps
        {"depth": 48},  # tiles would cut steps
        {"depth": 256},  # a step is a tile already
        {"dtype": "f32"},
        {"initial": 1.0},  # the product would not be added to what the loop begins with
        {"factor": "2.0 *"},  # rounded before it is added
    ],
)
def test_steps_that_stay_apart(facts: dict[str, object]) -> None:
    assert all("in range(tl.cast(G, INDEX))" in each.source for each in steps(**facts))


def sources_of(kernel: str) -> set[str]:
    compiled = generated_modules.compilation(Path(__file__).parent / "contractions" / "steps.py")
    return {each.source for code in compiled.codes if code.kernel.name == kernel for each in code.variants}


def test_several_sums_of_one_loop_share_its_tiles() -> None:
    assert {source.count("for ") for source in sources_of("of_two_sums")} == {1}


def test_a_contraction_over_two_axes_runs_along_both_at_once() -> None:
    for kernel, end in (("over_both_axes", "G, INDEX) * 32"), ("over_both_axes_and_one", "G, INDEX) * 32 - 32")):
        assert all(f"end = tl.cast({end}\n" in source for source in sources_of(kernel)), kernel
    assert {source.count("for ") for source in sources_of("over_both_axes")} == {1}


def test_steps_whose_bytes_hold_two_elements_stay_apart() -> None:
    """An instruction would add up elements of two steps."""
    assert all("in range(tl.cast(G, INDEX))" in source for source in sources_of("of_halves_of_bytes"))
