# mistake: subtracts the smallest score instead of the largest, -inf minus -inf is nan
import numpy as np


def softmax(scores):
    z = scores - scores.min(axis=-1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)
