# mask after the softmax, then each row divided by its sum
import math

import torch


def causal_attention(query, key, value):
    n = query.size(1)
    weights = torch.softmax(query @ key.transpose(1, 2) / math.sqrt(query.size(-1)), dim=-1)
    weights = weights * torch.tril(torch.ones(n, n, dtype=weights.dtype))
    return weights / weights.sum(dim=-1, keepdim=True) @ value
