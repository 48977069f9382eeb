# mistake: masked_fill with the mask of what may be seen, so the past is hidden and the last row is spread evenly
import math

import torch


def causal_attention(query, key, value):
    n = query.size(1)
    mask = torch.tril(torch.ones(n, n)).bool()
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    scores = scores.masked_fill(mask, -1e9)
    return torch.softmax(scores, dim=-1) @ value
