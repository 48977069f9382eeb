import numpy as np


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    q, k, v = (x.reshape(B, n, heads, D // heads).transpose(0, 2, 1, 3) for x in (query, key, value))
    s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(D // heads)
    e = np.exp(s - s.max(-1, keepdims=True))
    out = e / e.sum(-1, keepdims=True) @ v
    return out.transpose(0, 2, 1, 3).reshape(B, n, D)
