# mistake: batch norm: mean and variance over batch and tokens for each feature
import torch


def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=(0, 1), keepdim=True)
    var = x.var(dim=(0, 1), keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias
