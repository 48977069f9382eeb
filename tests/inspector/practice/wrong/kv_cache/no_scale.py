# mistake: not divided by sqrt(E)
import torch


def step(query, key, value, keys, values):
    keys = torch.cat([keys, key], dim=1)
    values = torch.cat([values, value], dim=1)
    return torch.softmax(query @ keys.transpose(1, 2), dim=-1) @ values, keys, values
