import numpy as np


def flops(n, width, ffn, heads):
    shapes = np.array([[n, width, width]] * 4 + [[n, width, n], [n, n, width], [n, width, ffn], [n, ffn, width]])
    return int(2 * shapes.prod(axis=1).sum())
