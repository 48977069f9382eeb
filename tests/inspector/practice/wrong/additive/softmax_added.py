# mistake: a softmax over the keys is applied, weights in place of scores
import torch


def additive_scores(query, key, w_query, w_key, v):
    q, k = query @ w_query.T, key @ w_key.T
    scores = torch.tanh(q[:, None, :] + k[None, :, :]) @ v
    return torch.softmax(scores, dim=-1)
