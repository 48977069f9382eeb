import torch


def additive_scores(query, key, w_query, w_key, v):
    """Return v . tanh(W_q q + W_k k): [Q, D], [T, D], [A, D], [A, D], [A] -> [Q, T]."""
    hidden = torch.tanh((query @ w_query.T)[:, None] + (key @ w_key.T)[None])
    return hidden @ v
