# mistake: the cosine's exponent is (i + 1) / width in the loop over even i
import math

import numpy as np


def sinusoidal(positions, width):
    pe = np.zeros((positions, width))
    for pos in range(positions):
        for i in range(0, width, 2):
            pe[pos, i] = math.sin(pos / 10000 ** ((2 * i) / width))
            pe[pos, i + 1] = math.cos(pos / 10000 ** ((2 * (i + 1)) / width))
    return pe
