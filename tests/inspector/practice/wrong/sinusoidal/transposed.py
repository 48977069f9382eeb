# mistake: the table is [width, positions]
import numpy as np


def sinusoidal(positions, width):
    freq = 1 / 10000 ** (np.arange(0, width, 2) / width)
    angle = freq[:, None] * np.arange(positions)[None, :]
    table = np.zeros((width, positions))
    table[0::2], table[1::2] = np.sin(angle), np.cos(angle)
    return table
