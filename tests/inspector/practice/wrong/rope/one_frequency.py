# mistake: every pair is rotated by the position itself, base^(-2i/E) is missing
import numpy as np


def rotate(x, base):
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[1])[None, :, None]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], -1)
