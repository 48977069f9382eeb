# the smallest number of the dtype in place of -inf
import torch


def causal_attention(query, key, value):
    n = query.shape[1]
    scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
    mask = torch.full((n, n), torch.finfo(scores.dtype).min, dtype=scores.dtype).triu(1)
    return torch.softmax(scores + mask, dim=-1) @ value
