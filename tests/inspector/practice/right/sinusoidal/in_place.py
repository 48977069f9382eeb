import numpy as np


def sinusoidal(positions, width):
    table = np.repeat(np.arange(positions, dtype=np.float64)[:, None], width, axis=1)
    table /= 10000 ** (2 * (np.arange(width) // 2) / width)
    np.sin(table[:, ::2], out=table[:, ::2])
    np.cos(table[:, 1::2], out=table[:, 1::2])
    return table
