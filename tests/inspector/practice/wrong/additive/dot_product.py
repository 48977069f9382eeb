# mistake: dot product of the projected query and key, no tanh of a sum
import torch


def additive_scores(query, key, w_query, w_key, v):
    q = query @ w_query.T
    k = key @ w_key.T
    return (q * v) @ k.T
