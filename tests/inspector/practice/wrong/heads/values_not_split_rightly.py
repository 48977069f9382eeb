# mistake: query and key are split with a transpose, the values by a plain view
import math

import torch


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    E = D // heads
    q = query.view(B, n, heads, E).transpose(1, 2)
    k = key.view(B, n, heads, E).transpose(1, 2)
    v = value.view(B, heads, n, E)
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(E), dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, n, D)
