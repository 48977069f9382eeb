# mistake: x - mean / std: the brackets around the difference are missing
import numpy as np


def layer_norm(x, weight, bias, eps):
    mean = x.mean(-1, keepdims=True)
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    return weight * (x - mean / std) + bias
