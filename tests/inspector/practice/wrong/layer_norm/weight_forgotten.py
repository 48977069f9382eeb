# mistake: the weight is not multiplied
import torch


def layer_norm(x, weight, bias, eps):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) + bias
