"""Channels become pixels: [B, 4 C, H, W] to [B, C, 2 H, 2 W], each channel's four parts the corners of a square."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "C": 3, "H": 5, "W": 7},
    {"B": 1, "C": 4, "H": 4, "W": 8},
    {"B": 1, "C": 1, "H": 1, "W": 1},
    {"B": 0, "C": 2, "H": 3, "W": 3},
    {"B": 1, "C": 2, "H": 0, "W": 3},
]
LARGE = [{"B": 3, "C": 5, "H": 37, "W": 67}]


@intent.kernel
def pixel_shuffle(
    x: I.In[I.f16, ("B", "C", 2, 2, "H", "W")],
    out: I.Out[I.f16, ("B", "C", "H", 2, "W", 2)],
):
    out[:, :, :, :, :, :] = I.transpose(x[:, :, :, :, :, :], (0, 1, 4, 2, 5, 3))


def reference(x):
    return x.transpose(0, 1, 4, 2, 5, 3)
