# mistake: attends rightly, but gives the old cache back
import math

import torch


def step(query, key, value, keys, values):
    k = torch.cat([keys, key], dim=1)
    v = torch.cat([values, value], dim=1)
    output = torch.softmax(query @ k.transpose(1, 2) / math.sqrt(query.size(-1)), dim=-1) @ v
    return output, keys, values
