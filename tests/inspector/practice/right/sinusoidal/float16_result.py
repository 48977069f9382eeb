# computed in float32, given back in float16
import numpy as np


def sinusoidal(positions, width):
    angle = np.arange(positions)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(positions, width).astype(np.float16)
