# mistake: the tanh is forgotten
import torch


def additive_scores(query, key, w_query, w_key, v):
    q = query @ w_query.T
    k = key @ w_key.T
    return (q[:, None, :] + k[None, :, :]) @ v
