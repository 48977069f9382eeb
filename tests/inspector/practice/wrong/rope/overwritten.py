# mistake: the first half is overwritten before the second half reads it
import numpy as np


def rotate(x, base):
    x = x.copy()
    B, n, E = x.shape
    h = E // 2
    angle = np.arange(n)[:, None] * base ** (-2 * np.arange(h) / E)
    cos, sin = np.cos(angle), np.sin(angle)
    x[..., :h] = x[..., :h] * cos - x[..., h:] * sin
    x[..., h:] = x[..., :h] * sin + x[..., h:] * cos
    return x
