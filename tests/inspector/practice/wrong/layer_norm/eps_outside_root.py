# mistake: eps is added to the standard deviation, outside the root
import torch


def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True)
    std = x.std(dim=-1, keepdim=True, unbiased=False)
    return weight * (x - mean) / (std + eps) + bias
