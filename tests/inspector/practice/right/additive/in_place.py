import numpy as np


def additive_scores(query, key, w_query, w_key, v):
    hidden = np.repeat((query @ w_query.T)[:, None, :], len(key), axis=1)
    hidden += key @ w_key.T
    np.tanh(hidden, out=hidden)
    hidden *= v
    return hidden.sum(axis=-1)
