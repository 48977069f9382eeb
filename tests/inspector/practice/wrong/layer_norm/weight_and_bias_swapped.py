# mistake: weight and bias swapped
import numpy as np


def layer_norm(x, weight, bias, eps):
    z = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return z * bias + weight
