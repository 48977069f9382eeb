import torch


def sinusoidal(positions, width):
    freq = 10000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = torch.einsum("p,i->pi", torch.arange(positions, dtype=torch.float64), freq)
    return torch.stack([angle.sin(), angle.cos()], dim=2).reshape(positions, width)
