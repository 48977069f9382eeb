# the variance as mean of squares less the square of the mean, in float64
import numpy as np


def layer_norm(x, weight, bias, eps):
    x = x.astype(np.float64)
    mean = x.mean(-1, keepdims=True)
    var = (x**2).mean(-1, keepdims=True) - mean**2
    return (x - mean) / np.sqrt(var + eps) * weight + bias
