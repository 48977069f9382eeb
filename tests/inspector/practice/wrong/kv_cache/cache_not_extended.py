# mistake: attends to the old cache only, the new key and value are appended afterwards
import math

import torch


def step(query, key, value, keys, values):
    weights = torch.softmax(query @ keys.transpose(1, 2) / math.sqrt(query.size(-1)), dim=-1)
    output = weights @ values
    return output, torch.cat([keys, key], dim=1), torch.cat([values, value], dim=1)
