import torch


def layer_norm(x, weight, bias, eps):
    x = x.clone()
    x -= x.mean(-1, keepdim=True)
    x /= (x.square().mean(-1, keepdim=True) + eps).sqrt()
    x *= weight
    x += bias
    return x
