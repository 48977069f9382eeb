# the heads as chunks, joined by cat
import torch


def multi_head(query, key, value, heads):
    parts = zip(query.chunk(heads, -1), key.chunk(heads, -1), value.chunk(heads, -1))
    return torch.cat([torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v for q, k, v in parts], dim=-1)
