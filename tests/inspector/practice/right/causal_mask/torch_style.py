import math

import torch


def causal_attention(query, key, value):
    n = query.size(1)
    mask = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    scores = scores.masked_fill(mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value
