# the unbiased variance, corrected by (D - 1) / D
import torch


def layer_norm(x, weight, bias, eps):
    D = x.shape[-1]
    var = torch.var(x, dim=-1, keepdim=True) * (D - 1) / D
    return weight * ((x - x.mean(-1, keepdim=True)) / (var + eps) ** 0.5) + bias
