# the logarithm of the weights first (log-sum-exp)
import numpy as np


def softmax(scores):
    top = scores.max(axis=-1, keepdims=True)
    log_sum = top + np.log(np.exp(scores - top).sum(axis=-1, keepdims=True).astype(np.float64))
    return np.exp(scores - log_sum)
