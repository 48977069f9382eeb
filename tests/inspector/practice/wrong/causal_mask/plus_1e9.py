# mistake: +1e9 added to the hidden scores, the minus sign is lost
import math

import torch


def causal_attention(query, key, value):
    n = query.size(1)
    mask = torch.triu(torch.ones(n, n), diagonal=1)
    scores = query @ key.transpose(1, 2) / math.sqrt(query.size(2)) + mask * 1e9
    return torch.softmax(scores, dim=-1) @ value
