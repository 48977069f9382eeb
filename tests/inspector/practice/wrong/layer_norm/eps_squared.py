# mistake: eps squared in the root, as if eps were a standard deviation
import torch


def layer_norm(x, weight, bias, eps):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, correction=0)
    return (x - mean) * torch.rsqrt(var + eps**2) * weight + bias
