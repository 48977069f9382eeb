import torch


def causal_attention(query, key, value):
    """Return the output of causal attention: [B, n, E] each -> [B, n, E]."""
    n = query.shape[-2]
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    behind = torch.ones(n, n, dtype=torch.bool).triu(diagonal=1)
    return torch.softmax(scores.masked_fill(behind, float("-inf")), dim=-1) @ value
