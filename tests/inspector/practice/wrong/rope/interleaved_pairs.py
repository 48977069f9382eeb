# mistake: neighbouring columns (2i, 2i + 1) are paired, not (i, i + E/2)
import torch


def rotate(x, base):
    n, E = x.shape[1:]
    freq = base ** (-torch.arange(0, E, 2, dtype=x.dtype) / E)
    angle = torch.arange(n, dtype=x.dtype)[:, None] * freq
    a, b = x[..., 0::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., 0::2] = a * angle.cos() - b * angle.sin()
    out[..., 1::2] = a * angle.sin() + b * angle.cos()
    return out
