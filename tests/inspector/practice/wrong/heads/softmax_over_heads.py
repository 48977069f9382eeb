# mistake: softmax over the axis of the heads (dim=1)
import math

import torch


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    E = D // heads
    q, k, v = (x.view(B, n, heads, E).transpose(1, 2) for x in (query, key, value))
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(E), dim=1)
    return (weights @ v).transpose(1, 2).reshape(B, n, D)
