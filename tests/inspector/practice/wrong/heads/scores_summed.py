# mistake: the scores of all heads are added up, one softmax for all of them
import numpy as np


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    E = D // heads
    q, k = query.reshape(B, n, heads, E), key.reshape(B, n, heads, E)
    scores = np.einsum("bihe,bjhe->bij", q, k) / np.sqrt(E)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ value
