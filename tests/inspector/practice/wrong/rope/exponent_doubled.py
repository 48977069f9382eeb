# mistake: arange(0, E, 2) is 2i already, and it is divided by E / 2
import torch


def rotate(x, base):
    E = x.shape[-1]
    half = E // 2
    inv_freq = 1.0 / base ** (torch.arange(0, E, 2).to(x.dtype) / half)
    angle = torch.outer(torch.arange(x.shape[1]).to(x.dtype), inv_freq)
    x1, x2 = x[..., :half], x[..., half:]
    return torch.cat((x1 * angle.cos() - x2 * angle.sin(), x2 * angle.cos() + x1 * angle.sin()), dim=-1)
