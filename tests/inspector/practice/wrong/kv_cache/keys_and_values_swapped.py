# mistake: key stored with the values and value with the keys
import math

import torch


def step(query, key, value, keys, values):
    keys = torch.cat([keys, value], dim=1)
    values = torch.cat([values, key], dim=1)
    weights = torch.softmax(query @ keys.transpose(1, 2) / math.sqrt(query.size(-1)), dim=-1)
    return weights @ values, keys, values
