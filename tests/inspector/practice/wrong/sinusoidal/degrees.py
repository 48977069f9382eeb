# mistake: the angle taken in degrees
import numpy as np


def sinusoidal(positions, width):
    angle = np.arange(positions)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    angle = np.deg2rad(angle)
    table = np.zeros((positions, width))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table
