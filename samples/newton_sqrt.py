"""Square roots by Newton's iteration from above, stopping when a step no longer falls."""

import intent
import intent.language as I

STEPS = 60


@intent.kernel
def newton_sqrt(
    x: I.In[I.f64, ("N",)],
    root: I.Out[I.f64, ("N",)],
):
    for i in I.parallel(I.domain(0, x.shape[0])):
        a = x[i]
        guess = I.maximum(a, 1.0)
        for _ in range(STEPS):
            better = 0.5 * (guess + a / guess)
            if better >= guess:
                break
            guess = better
        root[i] = guess


def inputs(rng, case):
    import numpy as np

    return {"x": np.exp(rng.uniform(-5.0, 5.0, case["N"]))}


def reference(x):
    import numpy as np

    return np.sqrt(x)
