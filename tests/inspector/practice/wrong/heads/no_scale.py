# mistake: not divided by the root of the head's width
import torch


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    split = lambda x: x.view(B, n, heads, D // heads).transpose(1, 2)
    weights = torch.softmax(split(query) @ split(key).transpose(-2, -1), dim=-1)
    return (weights @ split(value)).transpose(1, 2).reshape(B, n, D)
