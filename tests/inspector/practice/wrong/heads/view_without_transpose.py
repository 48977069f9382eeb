# mistake: view(B, heads, n, E) in place of view(B, n, heads, E) and a transpose
import math

import torch


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    E = D // heads
    q, k, v = (x.reshape(B, heads, n, E) for x in (query, key, value))
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(E), dim=-1)
    return (weights @ v).reshape(B, n, D)
