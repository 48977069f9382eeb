# mistake: the root of the number of keys in place of the width
import numpy as np


def attention(query, key, value):
    d = key.shape[1]
    s = np.einsum("bqe,bte->bqt", query, key) / np.sqrt(d)
    s = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bqt,btf->bqf", s / s.sum(axis=-1, keepdims=True), value)
