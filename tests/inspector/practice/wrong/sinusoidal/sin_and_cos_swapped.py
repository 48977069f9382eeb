# mistake: cosine in the even columns, sine in the odd ones
import torch


def sinusoidal(positions, width):
    pos = torch.arange(positions).unsqueeze(1)
    div = 10000 ** (torch.arange(0, width, 2) / width)
    pe = torch.zeros(positions, width)
    pe[:, 0::2] = torch.cos(pos / div)
    pe[:, 1::2] = torch.sin(pos / div)
    return pe
