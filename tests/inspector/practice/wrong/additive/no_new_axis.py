# mistake: q + k added row by row without a new axis, which fails where Q and T differ
import torch


def additive_scores(query, key, w_query, w_key, v):
    q = query @ w_query.T
    k = key @ w_key.T
    return torch.tanh(q + k) @ v
