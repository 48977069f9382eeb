# mistake: the new key is written over the last entry of the cache
import math

import torch


def step(query, key, value, keys, values):
    keys, values = keys.clone(), values.clone()
    keys[:, -1:] = key
    values[:, -1:] = value
    weights = torch.softmax(query @ keys.mT / math.sqrt(query.shape[-1]), dim=-1)
    return weights @ values, keys, values
