import torch


def delta_rule(query, key, value, beta):
    """Return the outputs of the delta rule: [n, E], [n, E], [n, F], [n] -> [n, F]."""
    state = torch.zeros(value.shape[1], key.shape[1], dtype=value.dtype)
    outputs = []
    for q, k, v, b in zip(query, key, value, beta):
        state = state + b * torch.outer(v - state @ k, k)
        outputs.append(state @ q)
    return torch.stack(outputs)
