import torch


def multi_head(query, key, value, heads):
    q, k, v = (x.unflatten(-1, (heads, -1)) for x in (query, key, value))
    weights = (torch.einsum("bihe,bjhe->bhij", q, k) * q.shape[-1] ** -0.5).softmax(-1)
    return torch.einsum("bhij,bjhe->bihe", weights, v).flatten(2)
