"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rotate_points(
    quaternion: I.In[I.f32, ("N", 4)],
    point: I.In[I.f32, ("N", 3)],
    out: I.Out[I.f32, ("N", 3)],
):
    N = quaternion.shape[0]
    n = I.domain(0, N)
    point_values = point[n, 2]
    quaternion_values = quaternion[n, 3]
    quaternion_values_2 = quaternion[n, 2]
    quaternion_values_3 = quaternion[n, 1]
    quaternion_values_4 = quaternion[n, 0]
    rsqrt_quaternion = I.rsqrt(
        quaternion_values_4 * quaternion_values_4
        + quaternion_values_3 * quaternion_values_3
        + quaternion_values_2 * quaternion_values_2
        + quaternion_values * quaternion_values,
    )
    quaternion_term = quaternion_values_3 * rsqrt_quaternion
    point_values_2 = point[n, 0]
    quaternion_term_2 = quaternion_values * rsqrt_quaternion
    point_term = 2.0 * (quaternion_term_2 * point_values_2 - quaternion_term * point_values)
    quaternion_term_3 = quaternion_values_2 * rsqrt_quaternion
    point_values_3 = point[n, 1]
    point_term_2 = 2.0 * (quaternion_term * point_values_3 - quaternion_term_3 * point_values_2)
    point_term_3 = 2.0 * (quaternion_term_3 * point_values - quaternion_term_2 * point_values_3)
    quaternion_term_4 = quaternion_values_4 * rsqrt_quaternion
    out[n, 0] = (
        point_values_2
        + quaternion_term_4 * point_term_3
        + (quaternion_term_3 * point_term_2 - quaternion_term_2 * point_term)
    )
    out[n, 1] = (
        point_values_3
        + quaternion_term_4 * point_term
        + (quaternion_term_2 * point_term_3 - quaternion_term * point_term_2)
    )
    out[n, 2] = (
        point_values
        + quaternion_term_4 * point_term_2
        + (quaternion_term * point_term - quaternion_term_3 * point_term_3)
    )
