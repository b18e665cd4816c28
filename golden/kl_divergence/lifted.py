"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def kl_divergence(
    log_p: I.In[I.f32, ("M", "N")],
    log_q: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M",)],
):
    M, N = log_p.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    log_p_values = log_p[m, n]
    out[m] = I.reduce.sum(
        I.select(log_p_values > -I.inf, I.exp(log_p_values) * (log_p_values - log_q[m, n]), 0.0), axis=1
    )
