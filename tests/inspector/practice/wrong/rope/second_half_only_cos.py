# mistake: the second half forgets the sine of the first
import numpy as np


def rotate(x, base):
    h = x.shape[-1] // 2
    angle = np.arange(x.shape[1])[:, None] / base ** (2 * np.arange(h) / x.shape[-1])
    out = x * np.cos(np.concatenate([angle, angle], axis=-1))
    out[..., :h] -= x[..., h:] * np.sin(angle)
    return out
