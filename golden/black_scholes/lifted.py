"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def black_scholes(
    spot: I.In[I.f32, ("N",)],
    strike: I.In[I.f32, ("N",)],
    years: I.In[I.f32, ("N",)],
    call: I.Out[I.f32, ("N",)],
    put: I.Out[I.f32, ("N",)],
    rate: I.f32,
    volatility: I.f32,
):
    N = spot.shape[0]
    n = I.domain(0, N)
    years_values = years[n]
    years_term = volatility * I.sqrt(years_values)
    strike_values = strike[n]
    spot_values = spot[n]
    years_term_2 = (
        I.log(spot_values / strike_values) + (rate + 0.5 * volatility * volatility) * years_values
    ) / years_term
    years_term_3 = (years_term_2 - years_term) * -1.0
    years_term_4 = strike_values * I.exp(rate * -1.0 * years_values)
    years_term_5 = years_term_2 * -1.0
    call[n] = spot_values * (0.5 * I.erfc(years_term_5 * 0.70710677)) - years_term_4 * (
        0.5 * I.erfc(years_term_3 * 0.70710677)
    )
    put[n] = years_term_4 * (0.5 * I.erfc(years_term_3 * -1.0 * 0.70710677)) - spot_values * (
        0.5 * I.erfc(years_term_5 * -1.0 * 0.70710677)
    )
