# `False == condition` is printed as the negation, which the interpreter takes for a float as it does the comparison.
import intent
import intent.language as I

CONST3 = I.constraints(noalias=True)


@intent.kernel
def k(x0: I.In[I.bf16, ()], x1: I.In[I.i8, ("N",)], z0: I.InOut[I.i8, ("N",)]):
    N = x1.shape[0]
    n = 0
    if False == (x0[()] < x0[()]):  # noqa: E712, SIM300
        z0[:] = I.gather(x1, (n,), valid=N > 3)
