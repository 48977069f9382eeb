# mistake: all sines in the first half, all cosines in the second, not interleaved
import numpy as np


def sinusoidal(positions, width):
    i = np.arange(width // 2)
    angle = np.arange(positions)[:, None] / 10000 ** (2 * i / width)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
