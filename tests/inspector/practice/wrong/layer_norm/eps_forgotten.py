# mistake: eps is not used
import numpy as np


def layer_norm(x, weight, bias, eps):
    mean = x.mean(axis=-1, keepdims=True)
    std = x.std(axis=-1, keepdims=True)
    return weight * (x - mean) / std + bias
