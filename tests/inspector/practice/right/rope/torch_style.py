import torch


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def rotate(x, base):
    E = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, E, 2).float() / E))
    freqs = torch.outer(torch.arange(x.shape[1]).float(), inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    return x * emb.cos() + rotate_half(x) * emb.sin()
