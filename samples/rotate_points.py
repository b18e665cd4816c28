"""Turn points of space by one unit quaternion each; the quaternions need not be normalised."""

import intent
import intent.language as I


@intent.fn
def cross(a, b):
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@intent.fn
def unit_quaternion(w, x, y, z):
    scale = I.rsqrt(w * w + x * x + y * y + z * z)
    return I.record(real=w * scale, axis=(x * scale, y * scale, z * scale))


@intent.fn
def rotate(q, p):
    a, b, c = cross(q.axis, p)
    turn = (2.0 * a, 2.0 * b, 2.0 * c)
    d, e, f = cross(q.axis, turn)
    return (p[0] + q.real * turn[0] + d, p[1] + q.real * turn[1] + e, p[2] + q.real * turn[2] + f)


@intent.kernel
def rotate_points(
    quaternion: I.In[I.f32, ("N", 4)],
    point: I.In[I.f32, ("N", 3)],
    out: I.Out[I.f32, ("N", 3)],
):
    for i in I.parallel(I.domain(0, point.shape[0])):
        q = unit_quaternion(quaternion[i, 0], quaternion[i, 1], quaternion[i, 2], quaternion[i, 3])
        x, y, z = rotate(q, (point[i, 0], point[i, 1], point[i, 2]))
        out[i, 0] = x
        out[i, 1] = y
        out[i, 2] = z


def reference(quaternion, point):
    import numpy as np

    q = quaternion.astype(np.float64)
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    p = point.astype(np.float64)
    turn = 2.0 * np.cross(q[:, 1:], p)
    return (p + q[:, :1] * turn + np.cross(q[:, 1:], turn)).astype(np.float32)
