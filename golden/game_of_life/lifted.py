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
            cells_sum = (
                I.reduce.sum(I.cast(cells[I.cast(I.select((H * I.select(I.indices(coordinates) + h - 1 < 0, -(-(I.indices(coordinates) + h - 1) // H), (I.indices(coordinates) + h - 1) // H) + 1 != I.indices(coordinates) + h) & (I.cast(I.cast(I.indices(coordinates) + h - 1 - H * I.select(I.indices(coordinates) + h - 1 < 0, -(-(I.indices(coordinates) + h - 1) // H), (I.indices(coordinates) + h - 1) // H), I.i64) ^ I.cast(H, I.i64), I.index) < 0), I.cast(H + I.indices(coordinates) + h - 1 - H * I.select(I.indices(coordinates) + h - 1 < 0, -(-(I.indices(coordinates) + h - 1) // H), (I.indices(coordinates) + h - 1) // H), I.i64), I.cast(I.indices(coordinates) + h - 1 - H * I.select(I.indices(coordinates) + h - 1 < 0, -(-(I.indices(coordinates) + h - 1) // H), (I.indices(coordinates) + h - 1) // H), I.i64)), I.index)[:, None], I.cast(I.select((W * I.select(I.indices(coordinates_2) + w - 1 < 0, -(-(I.indices(coordinates_2) + w - 1) // W), (I.indices(coordinates_2) + w - 1) // W) + 1 != I.indices(coordinates_2) + w) & (I.cast(I.cast(I.indices(coordinates_2) + w - 1 - W * I.select(I.indices(coordinates_2) + w - 1 < 0, -(-(I.indices(coordinates_2) + w - 1) // W), (I.indices(coordinates_2) + w - 1) // W), I.i64) ^ I.cast(W, I.i64), I.index) < 0), I.cast(W + I.indices(coordinates_2) + w - 1 - W * I.select(I.indices(coordinates_2) + w - 1 < 0, -(-(I.indices(coordinates_2) + w - 1) // W), (I.indices(coordinates_2) + w - 1) // W), I.i64), I.cast(I.indices(coordinates_2) + w - 1 - W * I.select(I.indices(coordinates_2) + w - 1 < 0, -(-(I.indices(coordinates_2) + w - 1) // W), (I.indices(coordinates_2) + w - 1) // W), I.i64)), I.index)], I.i32), axis=(0, 1))
            )
            after[h, w] = (I.cast(cells_sum, I.index) == 3) | cells[h, w] & (I.cast(cells_sum, I.index) == 4)
