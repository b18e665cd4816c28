"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def game_of_life(
    cells: I.In[I.bool, ("H", "W")],
    after: I.Out[I.bool, ("H", "W")],
):
    H, W = cells.shape
    coordinates = I.domain(0, 3)
    coordinates_2 = I.domain(0, 3)
    for h in I.parallel(I.domain(0, H)):
        for w in I.parallel(I.domain(0, W)):
            cells_sum = I.reduce.sum(
                I.cast(
                    cells[(((I.indices(coordinates) + h - 1) % H)[:, None], (I.indices(coordinates_2) + w - 1) % W)],
                    I.i32,
                ),
                axis=(0, 1),
            )
            after[h, w] = (I.cast(cells_sum, I.index) == 3) | cells[h, w] & (I.cast(cells_sum, I.index) == 4)
