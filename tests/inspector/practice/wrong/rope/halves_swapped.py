# mistake: the rotated halves are joined in the wrong order
import torch


def rotate(x, base):
    B, n, E = x.shape
    freqs = 1.0 / base ** (torch.arange(0, E, 2).to(x.dtype) / E)
    angle = torch.outer(torch.arange(n).to(x.dtype), freqs)
    x1, x2 = x.chunk(2, dim=-1)
    first = x1 * angle.cos() - x2 * angle.sin()
    second = x1 * angle.sin() + x2 * angle.cos()
    return torch.cat((second, first), dim=-1)
