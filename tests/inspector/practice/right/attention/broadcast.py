# products summed by broadcasting, no matrix product
import numpy as np


def attention(query, key, value):
    scores = (query[:, :, None, :] * key[:, None, :, :]).sum(-1) / np.sqrt(key.shape[-1])
    e = np.exp(scores - scores.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return (w[..., None] * value[:, None]).sum(2)
