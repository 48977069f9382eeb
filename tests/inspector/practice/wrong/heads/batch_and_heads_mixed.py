# mistake: heads folded into the batch by view(B * heads, n, E) without a transpose
import math

import torch


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    E = D // heads
    q, k, v = (x.view(B * heads, n, E) for x in (query, key, value))
    weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(E), dim=-1)
    out = torch.bmm(weights, v)
    return out.view(B, heads, n, E).transpose(1, 2).reshape(B, n, D)
