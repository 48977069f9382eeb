# mistake: multiplied by 10000^(2i/width) in place of divided
import numpy as np


def sinusoidal(positions, width):
    angle = np.arange(positions)[:, None] * 10000.0 ** (np.arange(0, width, 2) / width)
    table = np.zeros((positions, width))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table
