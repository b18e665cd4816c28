import intent
import intent.language as I


@intent.kernel
def k(z: I.InOut[I.bf16, ("M", "N")]):
    M, N = z.shape
    for row, column in I.parallel((I.domain(0, M), I.domain(0, N))):
        z[row, column] += I.cast(row, I.bf16)
