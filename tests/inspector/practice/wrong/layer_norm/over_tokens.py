# mistake: normalises along the tokens (axis=1) in place of the features
import numpy as np


def layer_norm(x, weight, bias, eps):
    mean = x.mean(axis=1, keepdims=True)
    var = x.var(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(var + eps) * weight + bias
