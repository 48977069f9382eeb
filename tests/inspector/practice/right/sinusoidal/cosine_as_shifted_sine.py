# the cosine as a sine a quarter turn ahead
import numpy as np


def sinusoidal(positions, width):
    columns = np.arange(width)
    angle = np.outer(np.arange(positions), 10000.0 ** (-(columns - columns % 2) / width))
    return np.sin(angle + np.pi / 2 * (columns % 2))
