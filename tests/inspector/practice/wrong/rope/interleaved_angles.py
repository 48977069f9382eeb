# mistake: the angles are repeated pair by pair (repeat_interleave) while the halves are paired
import torch


def rotate(x, base):
    E = x.shape[-1]
    inv_freq = base ** (-torch.arange(0, E, 2).to(x.dtype) / E)
    freqs = torch.outer(torch.arange(x.shape[1]).to(x.dtype), inv_freq)
    emb = freqs.repeat_interleave(2, dim=-1)
    x1, x2 = x.chunk(2, dim=-1)
    return x * emb.cos() + torch.cat((-x2, x1), dim=-1) * emb.sin()
