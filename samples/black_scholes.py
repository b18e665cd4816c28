"""Prices of European call and put options by the formula of Black and Scholes, one option per lane."""

import intent
import intent.language as I

INVERSE_SQRT_2 = 0.7071067811865476


@intent.fn
def below(x):
    """The normal distribution function."""
    return 0.5 * I.erfc(-x * INVERSE_SQRT_2)


@intent.kernel
def black_scholes(
    spot: I.In[I.f32, ("N",)],
    strike: I.In[I.f32, ("N",)],
    years: I.In[I.f32, ("N",)],
    rate: I.f32,
    volatility: I.f32,
    call: I.Out[I.f32, ("N",)],
    put: I.Out[I.f32, ("N",)],
):
    n = I.domain(0, spot.shape[0])
    s = spot[n]
    k = strike[n]
    t = years[n]
    spread = volatility * I.sqrt(t)
    d1 = (I.log(s / k) + (rate + 0.5 * volatility * volatility) * t) / spread
    d2 = d1 - spread
    discounted = k * I.exp(-rate * t)
    call[n] = s * below(d1) - discounted * below(d2)
    put[n] = discounted * below(-d2) - s * below(-d1)


def inputs(rng, case):
    import numpy as np

    def between(low, high):
        return rng.uniform(low, high, case["N"]).astype(np.float32)

    return {"spot": between(5, 30), "strike": between(5, 30), "years": between(0.25, 2)}


FINITE = ["spot", "strike", "years"]


def reference(spot, strike, years, rate, volatility):
    import numpy as np
    from scipy.stats import norm

    s, k, t = (each.astype(np.float64) for each in (spot, strike, years))
    spread = volatility * np.sqrt(t)
    d1 = (np.log(s / k) + (rate + 0.5 * volatility * volatility) * t) / spread
    d2 = d1 - spread
    discounted = k * np.exp(-rate * t)
    call = s * norm.cdf(d1) - discounted * norm.cdf(d2)
    return call.astype(np.float32), (discounted * norm.cdf(-d2) - s * norm.cdf(-d1)).astype(np.float32)
