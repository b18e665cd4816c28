"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def qkv_projection(
    x: I.In[I.bf16, ("T", "D")],
    query_weight: I.In[I.bf16, ("D", "Q")],
    key_weight: I.In[I.bf16, ("D", "C")],
    value_weight: I.In[I.bf16, ("D", "C")],
    query: I.Out[I.bf16, ("T", "Q")],
    key: I.Out[I.bf16, ("T", "C")],
    value: I.Out[I.bf16, ("T", "C")],
):
    T, D = x.shape
    Q = query_weight.shape[1]
    C = key_weight.shape[1]
    t = I.domain(0, T)
    d = I.domain(0, D)
    q = I.domain(0, Q)
    c = I.domain(0, C)
    x_values = x[t, d]
    product = I.matmul(x_values, query_weight[d, q], acc_dtype=I.f32)
    query[t, q] = I.cast(product, I.bf16)
    product_2 = I.matmul(x_values, key_weight[d, c], acc_dtype=I.f32)
    key[t, c] = I.cast(product_2, I.bf16)
    product_3 = I.matmul(x_values, value_weight[d, c], acc_dtype=I.f32)
    value[t, c] = I.cast(product_3, I.bf16)
