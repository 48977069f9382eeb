# mistake: positions counted from 1
import torch


def sinusoidal(positions, width):
    pos = torch.arange(1, positions + 1).unsqueeze(1)
    div = 10000 ** (torch.arange(0, width, 2) / width)
    pe = torch.zeros(positions, width)
    pe[:, 0::2] = torch.sin(pos / div)
    pe[:, 1::2] = torch.cos(pos / div)
    return pe
