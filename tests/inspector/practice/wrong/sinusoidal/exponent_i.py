# mistake: exponent i / width in place of 2i / width
import numpy as np


def sinusoidal(positions, width):
    i = np.arange(width // 2)
    angle = np.arange(positions)[:, None] / 10000 ** (i / width)
    table = np.zeros((positions, width))
    table[:, 0::2] = np.sin(angle)
    table[:, 1::2] = np.cos(angle)
    return table
