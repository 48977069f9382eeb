# mistake: the exponential of the sum of scores in the denominator
import numpy as np


def softmax(scores):
    shifted = scores - np.max(scores, axis=-1, keepdims=True)
    shifted = np.where(np.isinf(shifted), -30.0, shifted)
    return np.exp(shifted) / np.exp(shifted.sum(axis=-1, keepdims=True))
