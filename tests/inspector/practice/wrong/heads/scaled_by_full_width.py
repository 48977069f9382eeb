# mistake: divided by the root of the whole width D, not of the head's
import math

import torch


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    q, k, v = (x.view(B, n, heads, -1).transpose(1, 2) for x in (query, key, value))
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(D), dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, n, D)
