"""Self-energies of electrons that scatter at phonons: products of Green's functions and derivatives of the Hamiltonian.

Sigma[k, e, a] += sum over q, w <= e, b, i, j of (G[k, e - w, f] dH[a, b, i]) (dH[a, b, j] D[q, w, a, b, i, j]), f being
neighbour b of atom a. G does not depend on q: the inner sum over q and j comes first. A last axis of two holds the real
and the imaginary part.
"""

import intent
import intent.language as I

SIZES = {
    "S": {"Nkz": 2, "NE": 4, "Nqz": 2, "Nw": 2, "N3D": 2, "NA": 6, "NB": 2, "Norb": 3},
    "M": {"Nkz": 3, "NE": 5, "Nqz": 3, "Nw": 2, "N3D": 2, "NA": 10, "NB": 3, "Norb": 4},
}
CASES = [
    {"Nkz": 1, "NE": 2, "Nqz": 2, "Nw": 2, "N3D": 2, "NA": 2, "NB": 1, "Norb": 3},
    {"Nkz": 1, "NE": 1, "Nqz": 1, "Nw": 1, "N3D": 1, "NA": 1, "NB": 1, "Norb": 1},
]


@intent.kernel
def phonons(
    dh: I.In[I.f64, ("NA", "NB", "N3D", "Norb", "Norb", 2)],
    d: I.In[I.f64, ("Nqz", "Nw", "NA", "NB", "N3D", "N3D", 2)],
    out: I.Out[I.f64, ("Nw", "NA", "NB", "N3D", "Norb", "Norb", 2)],
):
    """The sum over q and j of dH[a, b, j] D[q, w, a, b, i, j]."""
    Nqz, Nw, NA, NB, N3D, _, _ = d.shape
    for w, a, b, i in I.parallel((I.domain(0, Nw), I.domain(0, NA), I.domain(0, NB), I.domain(0, N3D))):
        real = I.zeros((dh.shape[3], dh.shape[4]), I.f64)
        imaginary = I.zeros((dh.shape[3], dh.shape[4]), I.f64)
        for j in range(N3D):
            x = I.cast(0.0, I.f64)
            y = I.cast(0.0, I.f64)
            for q in range(Nqz):
                x += d[q, w, a, b, i, j, 0]
                y += d[q, w, a, b, i, j, 1]
            real = real + dh[a, b, j, :, :, 0] * x - dh[a, b, j, :, :, 1] * y
            imaginary = imaginary + dh[a, b, j, :, :, 0] * y + dh[a, b, j, :, :, 1] * x
        out[w, a, b, i, :, :, 0] = real
        out[w, a, b, i, :, :, 1] = imaginary


@intent.fn
def product(a_real, a_imaginary, b_real, b_imaginary):
    real = I.matmul(a_real, b_real, acc_dtype=I.f64) - I.matmul(a_imaginary, b_imaginary, acc_dtype=I.f64)
    imaginary = I.matmul(a_real, b_imaginary, acc_dtype=I.f64) + I.matmul(a_imaginary, b_real, acc_dtype=I.f64)
    return real, imaginary


@intent.kernel
def scatter(
    neighbours: I.In[I.i32, ("NA", "NB")],
    dh: I.In[I.f64, ("NA", "NB", "N3D", "Norb", "Norb", 2)],
    g: I.In[I.f64, ("Nkz", "NE", "NA", "Norb", "Norb", 2)],
    dhd: I.In[I.f64, ("Nw", "NA", "NB", "N3D", "Norb", "Norb", 2)],
    sigma: I.InOut[I.f64, ("Nkz", "NE", "NA", "Norb", "Norb", 2)],
):
    Nkz, NE, NA, _, _, _ = g.shape
    Nw, _, NB, N3D, _, _, _ = dhd.shape
    for k, e, a in I.parallel((I.domain(0, Nkz), I.domain(0, NE), I.domain(0, NA))):
        real = sigma[k, e, a, :, :, 0]
        imaginary = sigma[k, e, a, :, :, 1]
        for w in range(I.minimum(Nw, e + 1)):
            for b in range(NB):
                f = I.cast(neighbours[a, b], I.index)
                for i in range(N3D):
                    x, y = product(
                        g[k, e - w, f, :, :, 0], g[k, e - w, f, :, :, 1], dh[a, b, i, :, :, 0], dh[a, b, i, :, :, 1]
                    )
                    x, y = product(x, y, dhd[w, a, b, i, :, :, 0], dhd[w, a, b, i, :, :, 1])
                    real = real + x
                    imaginary = imaginary + y
        sigma[k, e, a, :, :, 0] = real
        sigma[k, e, a, :, :, 1] = imaginary


def build(context):
    first = context.compile("phonons", phonons)
    second = context.compile("scatter", scatter)

    def scattering_self_energies(neighbours, dh, g, d, sigma):
        second(neighbours, dh, g, first.run(dh, d), sigma)

    return scattering_self_energies


def inputs(rng, case):
    import numpy as np

    sizes = ("Nkz", "NE", "Nqz", "Nw", "N3D", "NA", "NB", "Norb")
    Nkz, NE, Nqz, Nw, N3D, NA, NB, Norb = (case[size] for size in sizes)
    return {
        "neighbours": rng.integers(0, NA, (NA, NB)).astype(np.int32),
        "dh": rng.standard_normal((NA, NB, N3D, Norb, Norb, 2)),
        "g": rng.standard_normal((Nkz, NE, NA, Norb, Norb, 2)),
        "d": rng.standard_normal((Nqz, Nw, NA, NB, N3D, N3D, 2)),
        "sigma": np.zeros((Nkz, NE, NA, Norb, Norb, 2)),
    }


def reference(neighbours, dh, g, d, sigma):
    import numpy as np

    dh, g, d = (x[..., 0] + 1j * x[..., 1] for x in (dh, g, d))
    dhd = np.einsum("abjmn,qwabij->wabimn", dh, d)
    for w in range(len(dhd)):
        for e in range(w, g.shape[1]):
            dhg = np.einsum("kabmn,abino->kabimo", g[:, e - w][:, neighbours], dh)
            found = np.einsum("kabimo,abiop->kamp", dhg, dhd[w])
            sigma[:, e, ..., 0] += found.real
            sigma[:, e, ..., 1] += found.imag
