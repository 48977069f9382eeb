# mistake: attends to the new key alone, so the output is the new value
import math

import torch


def step(query, key, value, keys, values):
    weights = torch.softmax(query @ key.transpose(1, 2) / math.sqrt(query.size(-1)), dim=-1)
    output = weights @ value
    return output, torch.cat([keys, key], 1), torch.cat([values, value], 1)
