# mistake: sine and cosine swapped, position 0 is not left alone
import torch


def rotate(x, base):
    n, E = x.shape[1:]
    angle = torch.arange(n)[:, None] * base ** (-torch.arange(0, E, 2) / E)
    cos, sin = torch.sin(angle).to(x.dtype), torch.cos(angle).to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
