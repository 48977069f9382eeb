import numpy as np


def rotate(x, base):
    out = x.copy()
    half = x.shape[2] // 2
    for position in range(x.shape[1]):
        for i in range(half):
            angle = position / base ** (2 * i / x.shape[2])
            out[:, position, i] *= np.cos(angle)
            out[:, position, i] -= x[:, position, i + half] * np.sin(angle)
            out[:, position, i + half] *= np.cos(angle)
            out[:, position, i + half] += x[:, position, i] * np.sin(angle)
    return out
