# mistake: the position is taken from the batch axis
import numpy as np


def rotate(x, base):
    out = np.zeros_like(x)
    half = x.shape[2] // 2
    for p in range(x.shape[0]):
        for i in range(half):
            angle = p * base ** (-2 * i / x.shape[2])
            a, b = x[p, :, i], x[p, :, i + half]
            out[p, :, i] = a * np.cos(angle) - b * np.sin(angle)
            out[p, :, i + half] = a * np.sin(angle) + b * np.cos(angle)
    return out
