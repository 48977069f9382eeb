# mistake: arange(0, width, 2) is 2i already, and it is doubled once more
import math

import torch


def sinusoidal(positions, width):
    pos = torch.arange(positions).unsqueeze(1).float()
    div = torch.exp(2 * torch.arange(0, width, 2) * -math.log(10000.0) / width)
    pe = torch.zeros(positions, width)
    pe[:, 0::2] = torch.sin(pos * div)
    pe[:, 1::2] = torch.cos(pos * div)
    return pe
