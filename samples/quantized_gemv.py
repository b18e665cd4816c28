"""Q4_K weights times activations that are quantized to Q8_K first: integer products, f32 scales for each record."""

import intent
import intent.language as I

CASES = [{"N": 5, "G": 3}, {"N": 4, "G": 1}, {"N": 1, "G": 1}, {"N": 0, "G": 2}, {"N": 2, "G": 0}]
LARGE = [{"N": 67, "G": 16}]

FINITE = ("x",)
TOLERANCE = 0.0  # every rounding is prescribed


@intent.kernel
def quantize_activations(
    x: I.In[I.f32, ("G", 256)],
    records: I.Out[I.u8, ("G", 292)],
):
    records[:, :] = I.quantize(x[:, :], format=I.quant.q8_k)


@intent.kernel
def quantized_gemv(
    weights: I.In[I.u8, ("N", "G", 144)],
    activations: I.In[I.u8, ("G", 292)],
    y: I.Out[I.f32, ("N",)],
):
    for n in I.parallel(I.domain(0, weights.shape[0])):
        y[n] = I.quantized_dot(
            weights[n, :, :],
            activations[:, :],
            lhs_format=I.quant.q4_k,
            rhs_format=I.quant.q8_k,
            acc_dtype=I.f32,
        )


def inputs(rng, case):
    import numpy as np

    weights = rng.integers(0, 256, (case["N"], case["G"], 144), dtype=np.uint8)
    weights[..., :4] = rng.normal(size=(case["N"], case["G"], 2)).astype(np.float16).view(np.uint8)
    values = rng.normal(size=(case["G"], 256)).astype(np.float32)
    return {"weights": weights, "activations": quantize_activations_reference(values)}


def quantize_activations_reference(x):
    import numpy as np

    extreme = np.where(x.max(axis=1) > -x.min(axis=1), x.max(axis=1), x.min(axis=1))[:, None]
    inverse = np.float32(-127) / extreme
    elements = np.rint(x * inverse).astype(np.int8)
    sums = elements.reshape(-1, 16, 16).sum(axis=2, dtype=np.int16)
    return np.hstack([(1 / inverse).view(np.uint8), elements.view(np.uint8), sums.view(np.uint8)])


def quantized_gemv_reference(weights, activations):
    import numpy as np

    scale, minimum = np.moveaxis(weights[:, :, :4].copy().view(np.float16).astype(np.float32), 2, 0)
    fields = weights[:, :, 4:16].astype(np.int64)
    own, shared = fields[:, :, :8].reshape(*fields.shape[:2], 2, 4), fields[:, :, None, 8:]
    high = (shared >> np.array([[0], [4]]) & 15) | own >> 6 << 4
    scales, minima = np.moveaxis(np.concatenate([own & 63, high], axis=3), 2, 0)
    packed = weights[:, :, 16:].reshape(*fields.shape[:2], 4, 1, 32).astype(np.int64)
    nibbles = (packed >> np.array([[0], [4]]) & 15).reshape(*fields.shape[:2], 8, 32)
    elements = activations[:, 4:260].view(np.int8).reshape(-1, 8, 32).astype(np.int64)
    sums = activations[:, 260:].copy().view(np.int16).reshape(-1, 8, 2).astype(np.int64)
    total = (scales * (nibbles * elements).sum(axis=3)).sum(axis=2).astype(np.float32)
    offset = (minima * sums.sum(axis=2)).sum(axis=2).astype(np.float32)
    products = activations[:, :4].copy().view(np.float32)[:, 0] * (scale * total - minimum * offset)
    y = np.zeros(len(weights), np.float32)
    for product in products.T:
        y += product
    return y
