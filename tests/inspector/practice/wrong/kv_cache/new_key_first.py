# mistake: the new key and value are put in front of the cache
import math

import torch


def step(query, key, value, keys, values):
    keys = torch.cat([key, keys], dim=1)
    values = torch.cat([value, values], dim=1)
    weights = torch.softmax(query @ keys.transpose(1, 2) / math.sqrt(query.size(-1)), dim=-1)
    return weights @ values, keys, values
