"""Host functions that compose kernels, as the tests of compositions compile them."""

import math

import torch

import intent
import intent.language as I

GROUPS = 8  # in the sum of everything
STEPS = 2
DTYPE = I.f32


@intent.kernel
def group_sums(x: I.In[I.f32, ("N",)], partial: I.Out[I.f32, ("G",)]):
    n = I.domain(0, x.shape[0])
    groups = partial.shape[0]
    size = (x.shape[0] + groups - 1) // groups
    for g in I.parallel(I.domain(0, groups)):
        begin = I.minimum(g * size, x.shape[0])
        end = I.minimum(begin + size, x.shape[0])
        partial[g] = I.reduce.sum(x[n[begin:end]], axis=0)


@intent.kernel
def total(partial: I.In[I.f32, ("G",)], out: I.Out[I.f32, ()]):
    out[()] = I.reduce.sum(partial[:], axis=0)


@intent.kernel
def shift(x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("N",)], by: I.Constexpr[int]):
    n = I.domain(0, x.shape[0])
    out[n] = I.gather(x, (I.indices(n) + by,), valid=I.indices(n) + by < x.shape[0])


@intent.kernel
def increase(state: I.InOut[I.f32, ("N",)], amount: I.f32):
    state[:] = state[:] + amount


@intent.kernel
def extremes(x: I.In[I.f32, ("N",)], high: I.Out[I.f32, ()], low: I.Out[I.f32, ()]):
    high[()] = I.reduce.max(x[:], axis=0)
    low[()] = -I.reduce.max(-x[:], axis=0)


TOTAL = intent.compile(total)
SHIFT = intent.compile(shift, constexprs={"by": STEPS})


def build(context):
    """Compiles once, is called often."""
    groups = context.compile("groups", group_sums)
    merge = context.compile("merge", total)

    def full_sum(x: torch.Tensor, groups_wanted: int = GROUPS) -> torch.Tensor:
        """The sum of all elements."""
        # never more groups than elements
        partial = context.empty((min(groups_wanted, at_least_one(x.shape[0])),), DTYPE)
        groups(x, partial)
        return merge.run(partial)

    return full_sum


def at_least_one(count):
    return max(1, math.floor(count))


def smoothed(x):
    """Shifts by two, then by one as often as there are steps."""
    once = SHIFT.run(x)
    other = torch.empty_like(once)
    one = intent.compile(shift, constexprs={"by": 1})
    for _ in range(STEPS):
        one(x=once, out=other)
        once, other = other, once
    return once


def raised(state, *, amount=1.0):
    """In place, and the range of the result."""
    step = intent.compile(increase)
    step(state, amount)
    step.launch(state, amount=amount)
    return intent.compile(extremes).run(state)


def any_total(x, stages=(), **options):
    compiled = {"total": intent.compile(total), "groups": TOTAL}
    for stage in (*stages, "total"):
        x = compiled[stage].run(x)
    return {"total": x, "options": options}


def prepared_sum(x, groups=GROUPS):
    """Calls that are bound before anything is launched, to allocated outputs and to given ones."""
    sums = intent.compile(group_sums).prepare(x=x, G=groups)
    whole = torch.zeros((), dtype=x.dtype, device=x.device)
    merge = TOTAL.prepare(sums.result(), outputs=whole)
    before = whole.clone()
    for call in (sums, merge):
        call.launch()
    return before, merge.result()


def prepared_by_value(x, kernel="total"):
    compiled = {"total": TOTAL}
    call = compiled[kernel].prepare(x)
    call.launch()
    return call.result()


def sum_of_smoothed(x):
    return full(smoothed(x))


def full(x):
    return TOTAL.run(x)


def reference(x):
    return x.sum()


def main():
    print(full(torch.ones(3)))


if __name__ == "__main__":
    main()
