import torch


def attention(query, key, value):
    """Return the output of attention: [B, Q, E], [B, T, E], [B, T, F] -> [B, Q, F]."""
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ value
