# mistake: keys in the rows, queries in the columns: [T, Q]
import torch


def additive_scores(query, key, w_query, w_key, v):
    q, k = query @ w_query.T, key @ w_key.T
    return torch.tanh(k[:, None, :] + q[None, :, :]) @ v
