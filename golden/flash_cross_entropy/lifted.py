"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def flash_cross_entropy(
    hidden: I.In[I.f16, ("T", "D")],
    weights: I.In[I.f16, (129, "V", "D")],
    label: I.In[I.i32, ("T",)],
    loss: I.Out[I.f32, ("T",)],
):
    T, D = hidden.shape
    V = weights.shape[1]
    t = I.domain(0, T)
    d = I.domain(0, D)
    v = I.domain(0, V)
    coordinates = I.domain(0, V % 128)
    coordinates_2 = I.domain(0, V // 128 * 128)
    hidden_values = hidden[t, d]
    product = I.matmul(hidden_values, weights[0, v, d], acc_dtype=I.f32, transpose_rhs=True)
    weights_sum = I.reduce.sum(I.select(I.indices(v) == I.cast(label[t], I.index)[:, None], product, 0.0), axis=1)
    product_2 = I.matmul(hidden_values, weights[128, coordinates, d], acc_dtype=I.f32, transpose_rhs=True)
    weights_max = I.reduce.max(product_2, axis=1)
    product_3 = I.matmul(hidden_values, weights[0, coordinates_2, d], acc_dtype=I.f32, transpose_rhs=True)
    weights_max_2 = I.reduce.max(product_3, axis=1)
    maximum_weights = I.maximum(I.maximum(-1e+30, weights_max_2), weights_max)
    weights_sum_2 = I.reduce.sum(I.exp(product - maximum_weights[:, None]), axis=1)
    loss[t] = maximum_weights + I.log(weights_sum_2) - weights_sum
