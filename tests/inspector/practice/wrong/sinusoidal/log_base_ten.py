# mistake: log10 with exp: the base is not 10000 any more
import math

import torch


def sinusoidal(positions, width):
    position = torch.arange(positions).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, width, 2) * (-math.log10(10000.0) / width))
    pe = torch.zeros(positions, width)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
