# mistake: the 0/1 mask is added to the scores
import numpy as np


def causal_attention(query, key, value):
    n = query.shape[1]
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
    scores = scores + np.tril(np.ones((n, n)))
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ value
