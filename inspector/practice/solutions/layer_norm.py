import torch


def layer_norm(x, weight, bias, eps):
    """Return x with mean 0 and variance 1 for each token, times weight, plus bias: [B, n, D] -> [B, n, D]."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return weight * centred / torch.sqrt(variance + eps) + bias
