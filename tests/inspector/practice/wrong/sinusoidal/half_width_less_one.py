# mistake: timescales spread over width / 2 - 1 steps, as in tensor2tensor
import math

import torch


def sinusoidal(positions, width):
    half = width // 2
    freq = torch.exp(torch.arange(half) * -(math.log(10000.0) / (half - 1)))
    angle = torch.arange(positions)[:, None] * freq[None, :]
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
