# mistake: multiplied by sqrt(d_k) where it should be divided
import numpy as np


def attention(query, key, value):
    scores = query @ key.transpose(0, 2, 1) * np.sqrt(query.shape[-1])
    scores -= scores.max(-1, keepdims=True)
    w = np.exp(scores)
    w /= w.sum(-1, keepdims=True)
    return w @ value
