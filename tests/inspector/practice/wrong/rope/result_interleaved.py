# mistake: halves are rotated rightly but put back interleaved
import torch


def rotate(x, base):
    n, E = x.shape[1:]
    angle = (torch.arange(n)[:, None] * base ** (-torch.arange(0, E, 2) / E)).to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    turned = [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]
    return torch.stack(turned, dim=-1).flatten(-2)
