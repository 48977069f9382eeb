import numpy as np


def attention(query, key, value):
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ value
