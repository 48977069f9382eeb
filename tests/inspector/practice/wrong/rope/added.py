# mistake: the sines and cosines are added, as a position embedding is, not used to rotate
import numpy as np


def rotate(x, base):
    B, n, E = x.shape
    angle = np.arange(n)[:, None] * base ** (-2 * np.arange(E // 2) / E)
    return x + np.concatenate([np.sin(angle), np.cos(angle)], axis=-1)
