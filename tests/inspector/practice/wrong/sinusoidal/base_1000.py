# mistake: 1000 in place of 10000
import numpy as np


def sinusoidal(positions, width):
    angle = np.arange(positions)[:, None] / 1000 ** (np.arange(0, width, 2) / width)
    table = np.zeros((positions, width))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table
