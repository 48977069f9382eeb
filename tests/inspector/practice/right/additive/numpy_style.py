import numpy as np


def additive_scores(query, key, w_query, w_key, v):
    q = query @ w_query.T
    k = key @ w_key.T
    return np.tanh(q[:, np.newaxis, :] + k[np.newaxis, :, :]) @ v
