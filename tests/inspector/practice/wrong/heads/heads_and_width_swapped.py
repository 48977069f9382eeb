# mistake: view(B, n, E, heads): heads and head width mixed up
import math

import torch


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    E = D // heads
    q, k, v = (x.view(B, n, E, heads).permute(0, 3, 1, 2) for x in (query, key, value))
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(E), dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, n, D)
