# mistake: sigmoid in place of tanh
import numpy as np


def additive_scores(query, key, w_query, w_key, v):
    hidden = (query @ w_query.T)[:, None, :] + (key @ w_key.T)[None, :, :]
    return (1 / (1 + np.exp(-hidden))) @ v
