# mistake: 10000 written down, the given base is ignored
import torch


def rotate(x, base):
    n, E = x.shape[1:]
    inv_freq = 1.0 / (10000 ** (torch.arange(0, E, 2).double() / E))
    angle = torch.arange(n).double()[:, None] * inv_freq
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., : E // 2], x[..., E // 2 :]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
