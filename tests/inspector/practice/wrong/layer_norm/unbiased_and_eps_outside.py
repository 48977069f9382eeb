# mistake: the Annotated Transformer's version: x.std() (unbiased) plus eps
import torch


def layer_norm(x, weight, bias, eps):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return weight * (x - mean) / (std + eps) + bias
