# mistake: query @ w_query, though the weights are [out, in]
import torch


def additive_scores(query, key, w_query, w_key, v):
    q = query @ w_query
    k = key @ w_key
    return torch.tanh(q[:, None, :] + k[None, :, :]) @ v
