import torch


def additive_scores(query, key, w_query, w_key, v):
    q = torch.einsum("qd,ad->qa", query, w_query)
    k = torch.einsum("td,ad->ta", key, w_key)
    return torch.einsum("a,qta->qt", v, torch.tanh(q[:, None] + k[None]))
