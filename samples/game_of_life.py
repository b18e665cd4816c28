"""One generation of Conway's game on a torus: a cell lives with three neighbours, or with two if it lives already."""

import intent
import intent.language as I


@intent.kernel
def game_of_life(cells: I.In[I.bool, ("H", "W")], after: I.Out[I.bool, ("H", "W")]):
    H, W = cells.shape
    h = I.domain(0, H)
    w = I.domain(0, W)
    count = I.zeros((H, W), I.i32)
    for r in range(3):
        for s in range(3):
            row = (I.indices(h) + r - 1) % H
            column = (I.indices(w) + s - 1) % W
            count = count + I.cast(cells[row[:, None], column[None, :]], I.i32)
    alive = cells[h, w]
    # `count` holds the cell itself.
    after[h, w] = (count == 3) | (alive & (count == 4))


def reference(cells):
    import numpy as np

    if not cells.size:
        return cells
    count = sum(np.roll(cells.astype(np.int32), (r, s), (0, 1)) for r in (-1, 0, 1) for s in (-1, 0, 1))
    return (count == 3) | (cells & (count == 4))
