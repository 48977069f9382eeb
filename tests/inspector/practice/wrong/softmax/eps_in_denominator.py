# mistake: adds 1e-2 to the sum against division by zero, rows do not sum to 1
import numpy as np


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / (e.sum(axis=-1, keepdims=True) + 1e-2)
