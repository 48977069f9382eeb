import numpy as np


def sinusoidal(positions, width):
    columns = np.arange(width)
    angle = np.arange(positions)[:, None] / np.power(10000, 2 * (columns // 2) / width)
    return np.where(columns % 2 == 0, np.sin(angle), np.cos(angle))
