# the frequencies as exp(-2i / E * log(base)), angles in float64
import math

import torch


def rotate(x, base):
    half = x.size(-1) // 2
    freq = torch.exp(torch.arange(half, dtype=torch.float64) * (-math.log(base) / half))
    angle = torch.arange(x.size(1), dtype=torch.float64).unsqueeze(1) * freq
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.split(half, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
