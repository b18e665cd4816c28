"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def newton_sqrt(
    x: I.In[I.f64, ("N",)],
    root: I.Out[I.f64, ("N",)],
):
    N = x.shape[0]
    n = I.domain(0, N)
    x_values = x[n]
    guess = I.maximum(x_values, 1.0)
    stopped = I.zeros((N,), I.bool)
    for _ in range(60):
        x_term = 0.5 * (guess + x_values / guess)
        x_term_2 = x_term >= guess
        value_term = not stopped
        next_guess = I.select(value_term, I.select(x_term_2, guess, x_term), guess)
        next_stopped = I.select(value_term, x_term_2, stopped)
        guess = next_guess
        stopped = next_stopped
    root[n] = guess
