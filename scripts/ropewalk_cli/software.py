"""What the usual software computes, in numpy: Hugging Face's float32 path, rounding by rounding.

inv32 = fl32(1 / fl32(base ** fl32(2i/d))), angle = fl32(fl32(position) * inv32), cos and sin in float32, then float32
products and sums. It is what the demo compares the engine's error with.
"""

import numpy as np
from numpy.typing import NDArray


def float32_angles(base: float, rotary_dim: int, position: NDArray[np.int64]) -> NDArray[np.float32]:
    """The angles in radians, ``[tokens, rotary_dim / 2]``, as the software has them."""
    exponent = np.arange(0, rotary_dim, 2, dtype=np.float32) / np.float32(rotary_dim)
    # numpy's own float32 power is off by an ulp here and there; the software's is correctly rounded on these.
    inverse = np.float32(1) / np.power(float(base), exponent.astype(np.float64)).astype(np.float32)
    return (position.astype(np.float32)[:, None] * inverse).astype(np.float32)


def float32_rotation(x: NDArray, angles: NDArray[np.float32]) -> NDArray[np.float32]:
    """``x [tokens, heads, pairs, 2]`` rotated by ``angles [tokens, pairs]``, every operation rounded to float32."""
    first, second = x[..., 0].astype(np.float32), x[..., 1].astype(np.float32)
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    return np.stack([first * cosine - second * sine, second * cosine + first * sine], axis=-1)
