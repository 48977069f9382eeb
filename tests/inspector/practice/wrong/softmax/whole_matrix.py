# mistake: divided by the sum of the whole matrix, not of each row
import numpy as np


def softmax(scores):
    e = np.exp(scores - np.max(scores))
    return e / np.sum(e)
