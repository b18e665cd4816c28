"""Contractions of every form: reduced pairs, batch axes, transposed and vector operands, dtypes, chains, skips."""

import intent
import intent.language as I

CASES = [
    {"M": 7, "N": 21, "K": 19, "B": 2, "H": 3, "P": 5},
    {"M": 33, "N": 17, "K": 40, "B": 3, "H": 2, "P": 4},
    {"M": 1, "N": 1, "K": 1, "B": 1, "H": 1, "P": 1},
    {"M": 4, "N": 5, "K": 0, "B": 2, "H": 2, "P": 3},
    {"M": 3, "N": 4, "K": 5, "B": 0, "H": 2, "P": 0},
]


def einsum(formula, dtype="float32"):
    import numpy as np

    def statement(*operands):
        wide = np.dtype(dtype) if np.dtype(dtype).kind in "iu" else np.dtype(np.float64)
        return np.einsum(formula, *(operand.astype(wide) for operand in operands)).astype(dtype)

    return statement


@intent.kernel
def dot(a: I.In[I.f16, ("K",)], b: I.In[I.f16, ("K",)], o: I.Out[I.f32, ()]):
    o[()] = I.dot(a[:], b[:], acc_dtype=I.f32)


@intent.kernel
def integer_dot(a: I.In[I.i32, ("K",)], b: I.In[I.i32, ("K",)], o: I.Out[I.i32, (1,)]):
    o[0] = I.dot(a[:], b[:], acc_dtype=I.i32)


@intent.kernel
def dot_of_rows(a: I.In[I.bf16, ("M", "K")], b: I.In[I.bf16, ("M", "K")], o: I.Out[I.f32, ("M",)]):
    for m in I.parallel(I.domain(0, a.shape[0])):
        o[m] = I.dot(a[m, :], b[m, :], acc_dtype=I.f32)


@intent.kernel
def full_contraction(a: I.In[I.f32, ("M", "N")], b: I.In[I.f32, ("N", "M")], o: I.Out[I.f32, ()]):
    o[()] = I.contract(a[:, :], b[:, :], reduce=((0, 1), (1, 0)), acc_dtype=I.f32)


@intent.kernel
def two_pairs(a: I.In[I.f16, ("M", "P", "K")], b: I.In[I.f16, ("K", "N", "P")], o: I.Out[I.f32, ("M", "N")]):
    o[:, :] = I.contract(a[:, :, :], b[:, :, :], reduce=((1, 2), (2, 0)), acc_dtype=I.f32)


@intent.kernel
def two_pairs_and_no_columns(a: I.In[I.f32, ("M", "P", "K")], b: I.In[I.f32, ("P", "K")], o: I.Out[I.f32, ("M",)]):
    o[:] = I.contract(a[:, :, :], b[:, :], reduce=((1, 0), (2, 1)), acc_dtype=I.f32)


@intent.kernel
def fixed_pairs(a: I.In[I.bf16, ("M", "P", 3, 3)], b: I.In[I.bf16, ("N", "P", 3, 3)], o: I.Out[I.f32, ("M", "N")]):
    o[:, :] = I.contract(a[:, :, :, :], b[:, :, :, :], reduce=((1, 1), (2, 2), (3, 3)), acc_dtype=I.f32)


@intent.kernel
def one_fixed_pair(a: I.In[I.f64, (2, 1, "K")], b: I.In[I.f64, ("K", 2)], o: I.Out[I.f64, (1,)]):
    o[:] = I.contract(a[:, :, :], b[:, :], reduce=((0, 1), (2, 0)), acc_dtype=I.f64)


@intent.kernel
def one_fixed_pair_and_a_batch(a: I.In[I.bf16, ("K", 2, 2)], b: I.In[I.bf16, (2, "K", 2, 2)], o: I.Out[I.f32, (2, 2)]):
    o[:, :] = I.contract(a[:, :, :], b[:, :, :, :], reduce=((1, 2), (0, 1)), batch=((2, 3),), acc_dtype=I.f32)


@intent.kernel
def one_fixed_pair_of_two(a: I.In[I.f32, (2, "K")], b: I.In[I.f32, ("K", 2)], o: I.Out[I.f32, ()]):
    o[()] = I.contract(a[:, :], b[:, :], reduce=((1, 0), (0, 1)), acc_dtype=I.f32)


@intent.kernel
def broadcast_batch(
    a: I.In[I.f32, ("B", 1, "P", "K")],
    b: I.In[I.f32, (1, "H", "K", "P")],
    o: I.Out[I.f32, ("B", "H", "P", "P")],
):
    o[:, :, :, :] = I.matmul(a[:, :, :, :], b[:, :, :, :], acc_dtype=I.f32)


@intent.kernel
def batch_in_the_middle(
    a: I.In[I.f16, ("P", "B", "K")], b: I.In[I.f16, ("K", "N", "B")], o: I.Out[I.f32, ("P", "B", "N")]
):
    o[:, :, :] = I.contract(a[:, :, :], b[:, :, :], reduce=((2, 0),), batch=((1, 2),), acc_dtype=I.f32)


@intent.kernel
def several_free_axes(
    a: I.In[I.f16, ("B", "P", "K")], b: I.In[I.f16, ("K", "H", "P")], o: I.Out[I.f32, ("B", "P", "H", "P")]
):
    o[:, :, :, :] = I.contract(a[:, :, :], b[:, :, :], reduce=((2, 0),), acc_dtype=I.f32)


@intent.kernel
def batched_matvec(a: I.In[I.f32, ("B", "M", "K")], x: I.In[I.f32, ("B", "K")], o: I.Out[I.f32, ("B", "M")]):
    o[:, :] = I.matvec(a[:, :, :], x[:, :], acc_dtype=I.f32)


@intent.kernel
def transposed_matvec(a: I.In[I.f16, ("K", "M")], x: I.In[I.f16, ("K",)], o: I.Out[I.f32, ("M",)]):
    o[:] = I.matvec(a[:, :], x[:], acc_dtype=I.f32, transpose=True)


@intent.kernel
def transposed_vecmat(x: I.In[I.i32, ("K",)], a: I.In[I.i32, ("N", "K")], o: I.Out[I.i32, ("N",)]):
    o[:] = I.vecmat(x[:], a[:, :], acc_dtype=I.i32, transpose=True)


@intent.kernel
def outer(x: I.In[I.f16, ("N",)], o: I.Out[I.f16, ("N", "N")]):
    n = I.domain(0, x.shape[0])
    o[n, n] = I.outer(x[n], x[n])


@intent.kernel
def both_transposed(a: I.In[I.f32, ("K", "M")], b: I.In[I.f32, ("N", "K")], o: I.Out[I.f32, ("M", "N")]):
    o[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32, transpose_lhs=True, transpose_rhs=True)


@intent.kernel
def gram(a: I.In[I.f16, ("M", "K")], o: I.Out[I.f32, ("M", "M")]):
    m = I.domain(0, a.shape[0])
    o[m, m] = I.matmul(a[m, :], a[m, :], acc_dtype=I.f32, transpose_rhs=True)


@intent.kernel
def doubles(a: I.In[I.f64, ("M", "K")], b: I.In[I.f64, ("K", "N")], o: I.Out[I.f64, ("M", "N")]):
    o[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f64)


@intent.kernel
def floats_in_doubles(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], o: I.Out[I.f64, ("M", "N")]):
    o[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f64)


@intent.kernel
def bytes_in_words(a: I.In[I.i8, ("M", "K")], b: I.In[I.i8, ("K", "N")], o: I.Out[I.i32, ("M", "N")]):
    o[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.i32)


@intent.kernel
def bytes_in_bytes(a: I.In[I.u8, ("M", "K")], b: I.In[I.u8, ("K", "N")], o: I.Out[I.u8, ("M", "N")]):
    o[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.u8)


@intent.kernel
def long_integers(a: I.In[I.i64, ("M", "K")], b: I.In[I.i64, ("K", "N")], o: I.Out[I.i64, ("M", "N")]):
    o[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.i64)


@intent.kernel
def halves_in_halves(a: I.In[I.f16, ("P", "K")], b: I.In[I.f16, ("K", "N")], o: I.Out[I.f16, ("P", "N")]):
    o[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f16)


@intent.kernel
def quarters(a: I.In[I.f8e4m3fn, ("P", "K")], b: I.In[I.f8e4m3fn, ("K", "N")], o: I.Out[I.f32, ("P", "N")]):
    o[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)


@intent.kernel
def chain(
    a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "P")], c: I.In[I.f32, ("P", "N")], o: I.Out[I.f32, ("M", "N")]
):
    o[:, :] = I.matmul(I.matmul(a[:, :], b[:, :], acc_dtype=I.f32), c[:, :], acc_dtype=I.f32)


@intent.kernel
def shared_loop(
    x: I.In[I.f32, ("M", "K")], w: I.In[I.f32, ("K", "N")], v: I.In[I.f32, ("K", "P")],
    o: I.Out[I.f32, ("M", "N")], q: I.Out[I.f32, ("M", "P")], s: I.Out[I.f32, ("M",)],
):  # fmt: skip
    o[:, :] = I.matmul(x[:, :], w[:, :], acc_dtype=I.f32)
    q[:, :] = I.matmul(x[:, :], v[:, :], acc_dtype=I.f32)
    s[:] = I.reduce.sum(x[:, :] * x[:, :], axis=1)


@intent.kernel
def skipped_blocks(
    keep: I.In[I.i32, ("B",)], x: I.In[I.f16, ("B", "P", "K")], w: I.In[I.f16, ("B", "K", "N")],
    o: I.Out[I.f32, ("P", "N")],
):  # fmt: skip
    acc = I.zeros((x.shape[1], w.shape[2]), I.f32)
    for b in range(keep.shape[0]):
        if keep[b] > 0:
            acc = acc + I.matmul(x[b, :, :], w[b, :, :], acc_dtype=I.f32)
    o[:, :] = acc


@intent.kernel
def normalised_product(x: I.In[I.f32, ("M", "K")], w: I.In[I.f32, ("K", "N")], o: I.Out[I.f32, ("M", "N")]):
    z = I.matmul(x[:, :], w[:, :], acc_dtype=I.f32)
    e = I.exp(z - I.reduce.max(z, axis=1)[:, None])
    o[:, :] = e / I.reduce.sum(e, axis=1)[:, None]


@intent.kernel
def largest_over_the_batch(
    a: I.In[I.f32, ("B", "P", "P")], b: I.In[I.f32, ("B", "P", "H")],
    o: I.Out[I.f32, ("B", "P", "H")], q: I.Out[I.f32, ("P", "H")],
):  # fmt: skip
    z = I.contract(a[:, :, :], b[:, :, :], reduce=((2, 1),), batch=((0, 0),), acc_dtype=I.f32)
    o[:, :, :] = z
    q[:, :] = I.reduce.max(z, axis=0)


def largest_over_the_batch_reference(a, b):
    import numpy as np

    z = np.einsum("bpk,bkh->bph", a, b)
    return z, z.max(axis=0, initial=-np.inf)


def normalised_product_reference(x, w):
    import numpy as np

    z = x.astype(np.float64) @ w.astype(np.float64)
    e = np.exp(z - z.max(axis=1, keepdims=True, initial=-np.inf))
    return (e / e.sum(axis=1, keepdims=True)).astype(np.float32)


def shared_loop_reference(x, w, v):
    return x @ w, x @ v, (x * x).sum(axis=1)


def skipped_blocks_reference(keep, x, w):
    return einsum("b,bpk,bkn->pn")(keep > 0, x, w)


dot_reference = einsum("k,k->")
dot_of_rows_reference = einsum("mk,mk->m")
full_contraction_reference = einsum("mn,nm->")
two_pairs_reference = einsum("mpk,knp->mn")
two_pairs_and_no_columns_reference = einsum("mpk,pk->m")
fixed_pairs_reference = einsum("mpij,npij->mn")
one_fixed_pair_reference = einsum("pmk,kp->m", "float64")
one_fixed_pair_and_a_batch_reference = einsum("kpb,nkpb->bn")
one_fixed_pair_of_two_reference = einsum("pk,kp->")
broadcast_batch_reference = einsum("bxpk,xhkq->bhpq")
batch_in_the_middle_reference = einsum("pbk,knb->pbn")
several_free_axes_reference = einsum("bpk,khq->bphq")
batched_matvec_reference = einsum("bmk,bk->bm")
transposed_matvec_reference = einsum("km,k->m")
transposed_vecmat_reference = einsum("k,nk->n", "int32")
both_transposed_reference = einsum("km,nk->mn")
doubles_reference = einsum("mk,kn->mn", "float64")
floats_in_doubles_reference = doubles_reference
bytes_in_words_reference = einsum("mk,kn->mn", "int32")
bytes_in_bytes_reference = einsum("mk,kn->mn", "uint8")
long_integers_reference = einsum("mk,kn->mn", "int64")
halves_in_halves_reference = einsum("mk,kn->mn", "float16")
quarters_reference = einsum("mk,kn->mn")
chain_reference = einsum("mk,kp,pn->mn")


def integer_dot_reference(a, b):
    return einsum("k,k->", "int32")(a, b).reshape(1)


def outer_reference(x):
    return x[:, None] * x[None, :]


def gram_reference(a):
    return einsum("mk,nk->mn")(a, a)


def inputs(rng, case):
    return {"keep": rng.integers(0, 2, case["B"])}
