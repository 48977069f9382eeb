import numpy as np


def attention(query, key, value):
    scores = query @ np.swapaxes(key, 1, 2)
    scores /= query.shape[2] ** 0.5
    scores -= scores.max(axis=2, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=2, keepdims=True)
    return scores @ value
