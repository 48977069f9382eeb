# mistake: the mean of the squares in place of the variance, with the mean subtracted above
import torch


def layer_norm(x, weight, bias, eps):
    mean = x.mean(-1, keepdim=True)
    var = (x**2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias
