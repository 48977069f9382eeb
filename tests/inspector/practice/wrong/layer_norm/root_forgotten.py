# mistake: divided by the variance, the root is forgotten
import numpy as np


def layer_norm(x, weight, bias, eps):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    return weight * (x - mu) / (var + eps) + bias
