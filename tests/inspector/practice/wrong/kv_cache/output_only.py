# mistake: gives back the output without the cache
import math

import torch


def step(query, key, value, keys, values):
    keys = torch.cat([keys, key], dim=1)
    values = torch.cat([values, value], dim=1)
    scores = query @ keys.transpose(1, 2) / math.sqrt(query.size(-1))
    return torch.softmax(scores, dim=-1) @ values
