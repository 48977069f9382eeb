# mistake: the sign of the exponent is lost: angles grow with i
import numpy as np


def rotate(x, base):
    B, n, E = x.shape
    angle = np.arange(n)[:, None] * base ** (2 * np.arange(E // 2) / E)
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], -1)
