"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def lora(
    x: I.In[I.f16, ("M", "K")],
    weight: I.In[I.f16, ("K", "N")],
    a: I.In[I.f16, ("K", 16)],
    b: I.In[I.f16, (16, "N")],
    out: I.Out[I.f16, ("M", "N")],
    scale: I.f32,
):
    M, K = x.shape
    N = weight.shape[1]
    m = I.domain(0, M)
    k = I.domain(0, K)
    coordinates = I.domain(0, 16)
    n = I.domain(0, N)
    x_values = x[m, k]
    product = I.matmul(x_values, a[k, coordinates], acc_dtype=I.f32)
    product_2 = I.matmul(I.cast(product * scale, I.f16), b[coordinates, n], acc_dtype=I.f32)
    product_3 = I.matmul(x_values, weight[k, n], acc_dtype=I.f32)
    out[m, n] = I.cast(product_3 + product_2, I.f16)
