"""Angles between pairs of points on the unit sphere, by the haversine formula.

The language has no arc tangent: atan2(sqrt(h), sqrt(1 - h)) is asin(sqrt(h)) for h within [0, 1].
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 100000}, "M": {"N": 1000000}}
CASES = [{"N": 37}, {"N": 64}, {"N": 1}, {"N": 0}]


@intent.kernel
def arc_distance(
    theta_1: I.In[I.f64, ("N",)],
    phi_1: I.In[I.f64, ("N",)],
    theta_2: I.In[I.f64, ("N",)],
    phi_2: I.In[I.f64, ("N",)],
    out: I.Out[I.f64, ("N",)],
):
    t1 = theta_1[:]
    t2 = theta_2[:]
    along = I.sin((t2 - t1) / 2.0)
    across = I.sin((phi_2[:] - phi_1[:]) / 2.0)
    out[:] = 2.0 * I.asin(I.sqrt(along * along + I.cos(t1) * I.cos(t2) * across * across))


def inputs(rng, case):
    names = ("theta_1", "phi_1", "theta_2", "phi_2")
    return dict(zip(names, rng.random((4, case["N"])), strict=True))


def reference(theta_1, phi_1, theta_2, phi_2):
    import numpy as np

    across = np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    h = np.sin((theta_2 - theta_1) / 2) ** 2 + across
    return 2 * np.arctan2(np.sqrt(h), np.sqrt(1 - h))
