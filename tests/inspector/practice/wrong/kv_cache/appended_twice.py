# mistake: the new token is in the cache twice
import math

import torch


def step(query, key, value, keys, values):
    keys = torch.cat([keys, key], dim=1)
    values = torch.cat([values, value], dim=1)
    k = torch.cat([keys, key], dim=1)
    v = torch.cat([values, value], dim=1)
    weights = torch.softmax(query @ k.transpose(1, 2) / math.sqrt(query.size(-1)), dim=-1)
    return weights @ v, k, v
