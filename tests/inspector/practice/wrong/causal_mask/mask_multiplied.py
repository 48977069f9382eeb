# mistake: a mask of zeros and ones is multiplied onto the scores before the softmax
import math

import torch


def causal_attention(query, key, value):
    n = query.shape[1]
    mask = torch.tril(torch.ones(n, n, dtype=query.dtype))
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    return torch.softmax(scores * mask, dim=-1) @ value
