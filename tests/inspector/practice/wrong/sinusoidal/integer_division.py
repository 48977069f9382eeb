# mistake: // in the exponent, which is 0 for every column
import math

import torch


def sinusoidal(positions, width):
    pe = torch.zeros(positions, width)
    for pos in range(positions):
        for i in range(0, width, 2):
            angle = pos / (10000 ** (i // width))
            pe[pos, i] = math.sin(angle)
            pe[pos, i + 1] = math.cos(angle)
    return pe
