# mistake: the weights are reshaped to [in, out], not transposed
import numpy as np


def additive_scores(query, key, w_query, w_key, v):
    A, D = w_query.shape
    q = query @ w_query.reshape(D, A)
    k = key @ w_key.reshape(D, A)
    return np.tanh(q[:, None, :] + k[None, :, :]) @ v
