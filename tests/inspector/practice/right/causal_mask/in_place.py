import numpy as np


def causal_attention(query, key, value):
    query = query.copy()
    query /= query.shape[-1] ** 0.5
    scores = query @ key.swapaxes(1, 2)
    scores[:, np.triu(np.ones(scores.shape[1:], dtype=bool), 1)] = -np.inf
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ value
