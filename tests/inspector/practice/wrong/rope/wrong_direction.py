# mistake: rotated the other way round, the signs of the sines swapped
import torch


def rotate(x, base):
    n, E = x.shape[1:]
    freq = base ** (-torch.arange(0, E, 2, dtype=x.dtype) / E)
    angle = torch.arange(n, dtype=x.dtype)[:, None] * freq
    a, b = x[..., : E // 2], x[..., E // 2 :]
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)
