# mistake: sine in every column
import numpy as np


def sinusoidal(positions, width):
    pos = np.arange(positions).reshape(-1, 1)
    column = np.arange(width).reshape(1, -1)
    angle = pos / np.power(10000, 2 * (column // 2) / width)
    return np.sin(angle)
