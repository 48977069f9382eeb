# mistake: the wrong triangle: each query sees itself and the future
import math

import torch


def causal_attention(query, key, value):
    n = query.size(1)
    mask = torch.triu(torch.ones(n, n)) == 0
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1) @ value
