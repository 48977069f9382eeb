# computed in float64, given back in the dtype of the scores
import numpy as np


def softmax(scores):
    wide = scores.astype(np.float64)
    e = np.exp(wide - wide.max(axis=1)[:, None])
    return (e / e.sum(axis=1)[:, None]).astype(scores.dtype)
