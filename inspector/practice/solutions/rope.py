import torch


def rotate(x, base):
    """Return x with the pair of columns i and i + E/2 turned by its position: [B, n, E] -> [B, n, E]."""
    width = x.shape[-1]
    frequencies = base ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(x.shape[-2])[:, None] * frequencies
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
