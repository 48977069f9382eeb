# old and new scores computed apart, one softmax over both
import torch


def step(query, key, value, keys, values):
    root = query.shape[-1] ** 0.5
    old, new = query @ keys.mT / root, (query * key).sum(-1, keepdim=True) / root
    weights = torch.softmax(torch.cat([old, new], dim=-1), dim=-1)
    output = weights[..., :-1] @ values + weights[..., -1:] * value
    return output, torch.cat([keys, key], dim=1), torch.cat([values, value], dim=1)
