# mistake: divided by the root of the number of heads
import math

import torch


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    q, k, v = (x.view(B, n, heads, D // heads).transpose(1, 2) for x in (query, key, value))
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(heads)
    out = torch.matmul(scores.softmax(-1), v)
    return out.transpose(1, 2).contiguous().view(B, n, D)
