# the heads folded into the batch, after the transpose
import torch


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    E = D // heads
    q, k, v = (x.view(B, n, heads, E).transpose(1, 2).reshape(B * heads, n, E) for x in (query, key, value))
    out = torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)) / E**0.5, -1), v)
    return out.view(B, heads, n, E).permute(0, 2, 1, 3).reshape(B, n, D)
