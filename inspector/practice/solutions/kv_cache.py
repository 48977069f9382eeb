import torch


def step(query, key, value, keys, values):
    """Return the new token's output [B, 1, E], and the cache with its key and value, [B, t+1, E] each."""
    keys = torch.cat([keys, key], dim=1)
    values = torch.cat([values, value], dim=1)
    scores = query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ values, keys, values
