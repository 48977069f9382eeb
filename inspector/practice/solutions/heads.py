import torch


def multi_head(query, key, value, heads):
    """Return the outputs of all heads side by side: [B, n, D] each -> [B, n, D]."""

    def split(x):
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)  # [B, heads, n, E]

    query, key, value = split(query), split(key), split(value)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    output = torch.softmax(scores, dim=-1) @ value
    return output.transpose(1, 2).flatten(-2)
