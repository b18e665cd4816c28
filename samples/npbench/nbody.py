"""Bodies under mutual gravitation, by leapfrog steps: positions and velocities at the end, energies at every step."""

import intent
import intent.language as I

SIZES = {
    "S": {"N": 25, "tEnd": 2.0, "dt": 0.05, "softening": 0.1, "G": 1.0},
    "M": {"N": 50, "tEnd": 5.0, "dt": 0.02, "softening": 0.1, "G": 1.0},
}
CASES = [
    {"N": 5, "tEnd": 0.1, "dt": 0.05, "softening": 0.1, "G": 1.0},
    {"N": 8, "tEnd": 0.1, "dt": 0.05, "softening": 0.1, "G": 1.0},
    {"N": 1, "tEnd": 0.1, "dt": 0.05, "softening": 0.1, "G": 1.0},
]


@intent.kernel
def start(mass: I.In[I.f64, ("N",)], velocity: I.In[I.f64, ("N", 3)], centred: I.Out[I.f64, ("N", 3)]):
    """In the frame of the centre of mass."""
    v = velocity[:, :]
    m = mass[:]
    centred[:, :] = v - I.reduce.sum(m[:, None] * v, axis=0) / I.reduce.sum(m, axis=0)


@intent.kernel
def accelerate(
    mass: I.In[I.f64, ("N",)],
    position: I.In[I.f64, ("N", 3)],
    gravity: I.f64,
    softening: I.f64,
    acceleration: I.Out[I.f64, ("N", 3)],
):
    i = I.domain(0, mass.shape[0])
    j = I.domain(0, mass.shape[0])
    difference = position[j, :][None, :, :] - position[i, :][:, None, :]
    squared = I.reduce.sum(difference * difference, axis=2) + softening * softening
    weight = mass[j][None, :] / (squared * I.sqrt(squared))
    acceleration[i, :] = gravity * I.reduce.sum(weight[:, :, None] * difference, axis=1)


@intent.kernel
def energies(
    mass: I.In[I.f64, ("N",)],
    position: I.In[I.f64, ("N", 3)],
    velocity: I.In[I.f64, ("N", 3)],
    gravity: I.f64,
    t: I.index,
    kinetic: I.InOut[I.f64, ("T",)],
    potential: I.InOut[I.f64, ("T",)],
):
    i = I.domain(0, mass.shape[0])
    j = I.domain(0, mass.shape[0])
    v = velocity[i, :]
    kinetic[t] = 0.5 * I.reduce.sum(mass[i][:, None] * v * v, axis=(0, 1))
    difference = position[j, :][None, :, :] - position[i, :][:, None, :]
    distance = I.sqrt(I.reduce.sum(difference * difference, axis=2))
    pair = -(mass[i][:, None] * mass[j][None, :]) / distance
    once = I.indices(i)[:, None] < I.indices(j)[None, :]
    potential[t] = gravity * I.reduce.sum(I.mask(pair, once, 0.0), axis=(0, 1))


@intent.kernel
def kick_and_drift(
    step: I.f64,
    acceleration: I.In[I.f64, ("N", 3)],
    velocity: I.InOut[I.f64, ("N", 3)],
    position: I.InOut[I.f64, ("N", 3)],
):
    v = velocity[:, :] + acceleration[:, :] * (0.5 * step)
    velocity[:, :] = v
    position[:, :] = position[:, :] + v * step


@intent.kernel
def kick(step: I.f64, acceleration: I.In[I.f64, ("N", 3)], velocity: I.InOut[I.f64, ("N", 3)]):
    velocity[:, :] = velocity[:, :] + acceleration[:, :] * (0.5 * step)


def build(context):
    centre = context.compile("start", start)
    pull = context.compile("accelerate", accelerate)
    measure = context.compile("energies", energies)
    first_half = context.compile("kick_and_drift", kick_and_drift)
    second_half = context.compile("kick", kick)

    def nbody(mass, position, velocity, steps, dt, gravity, softening):
        kinetic = context.empty((steps + 1,), I.f64)
        potential = context.empty((steps + 1,), I.f64)
        moving = centre.run(mass, velocity)
        acceleration = pull.run(mass, position, gravity, softening)
        measure(mass, position, moving, gravity, 0, kinetic, potential)
        for t in range(1, steps + 1):
            first_half(dt, acceleration, moving, position)
            pull(mass, position, gravity, softening, acceleration)
            second_half(dt, acceleration, moving)
            measure(mass, position, moving, gravity, t, kinetic, potential)
        return kinetic, potential

    return nbody


def inputs(rng, case):
    import math

    N = case["N"]
    return {
        "mass": 20.0 / N + 0.1 * rng.random(N),
        "position": rng.standard_normal((N, 3)),
        "velocity": rng.standard_normal((N, 3)),
        "steps": math.ceil(case["tEnd"] / case["dt"]),
        "dt": case["dt"],
        "gravity": case["G"],
        "softening": case["softening"],
    }


def reference(mass, position, velocity, steps, dt, gravity, softening):
    import numpy as np

    def pulled():
        difference = position[None] - position[:, None]
        weight = mass / (np.sum(difference**2, axis=2) + softening**2) ** 1.5
        return gravity * np.einsum("ij,ijc->ic", weight, difference)

    def energies():
        i, j = np.triu_indices(len(mass), 1)
        distance = np.linalg.norm(position[i] - position[j], axis=1)
        return 0.5 * np.sum(mass[:, None] * moving**2), -gravity * np.sum(mass[i] * mass[j] / distance)

    moving = velocity - (mass[:, None] * velocity).sum(axis=0) / mass.sum()
    acceleration = pulled()
    found = [energies()]
    for _ in range(steps):
        moving += acceleration * dt / 2
        position += moving * dt
        acceleration = pulled()
        moving += acceleration * dt / 2
        found.append(energies())
    kinetic, potential = np.array(found).T
    return kinetic, potential
