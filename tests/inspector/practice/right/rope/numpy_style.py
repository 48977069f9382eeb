import numpy as np


def rotate(x, base):
    B, n, E = x.shape
    half = E // 2
    angle = np.arange(n)[:, None] * base ** (-2 * np.arange(half) / E)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], axis=-1)
