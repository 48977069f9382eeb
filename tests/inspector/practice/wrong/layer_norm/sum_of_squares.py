# mistake: squares are summed and not divided by D
import numpy as np


def layer_norm(x, weight, bias, eps):
    out = np.zeros_like(x)
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            row = x[b, i] - x[b, i].mean()
            out[b, i] = row / np.sqrt((row**2).sum() + eps) * weight + bias
    return out
