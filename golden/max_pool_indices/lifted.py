"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def max_pool_indices(
    x: I.In[I.f32, ("B", "P", 2, "Q", 2)],
    out: I.Out[I.f32, ("B", "P", "Q")],
    position: I.Out[I.i64, ("B", "P", "Q")],
):
    B = x.shape[0]
    P = x.shape[1]
    Q = x.shape[3]
    for b in I.parallel(I.domain(0, B)):
        for p in I.parallel(I.domain(0, P)):
            for q in I.parallel(I.domain(0, Q)):
                largest = I.cast(-I.inf, I.f32)
                for i in range(4):
                    x_value = x[b, p, i // 2, q, i % 2]
                    largest = (
                        I.select((largest == largest) & (I.cast(x_value <= largest, I.index) == 0), x_value, largest)
                    )
                out[b, p, q] = largest
    for b in I.parallel(I.domain(0, B)):
        for p in I.parallel(I.domain(0, P)):
            for group in I.parallel(I.domain(0, 512)):
                for group_2 in I.parallel(I.domain(0, (Q + 511) // 512)):
                    largest_2 = I.cast(-I.inf, I.f32)
                    window_argmax = I.cast(0, I.i64)
                    for i_2 in range(4):
                        value_term = group + group_2 * 512 < Q
                        x_value_2 = I.gather(x, (b, p, i_2 // 2, group + group_2 * 512, i_2 % 2), valid=value_term)
                        x_term = (largest_2 == largest_2) & (I.cast(x_value_2 <= largest_2, I.index) == 0)
                        window_argmax = I.select(x_term, I.cast(i_2, I.i64), window_argmax)
                        largest_2 = I.select(x_term, x_value_2, largest_2)
                    if group + group_2 * 512 < Q:
                        position[b, p, group + group_2 * 512] = (
                            I.cast(Q, I.i64) * I.cast(I.select(window_argmax < 0, -(-window_argmax // 2), window_argmax // 2), I.i64) * 2
                            + I.cast(Q, I.i64) * I.cast(p, I.i64) * 4
                            + I.cast(group, I.i64) * 2
                            + window_argmax
                            + I.cast(I.select(window_argmax < 0, -(-window_argmax // 2), window_argmax // 2), I.i64) * -2
                            + I.cast(group_2, I.i64) * 1024
                        )
