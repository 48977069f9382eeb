# mistake: the query is divided by sqrt(E)
import torch


def delta_rule(query, key, value, beta):
    query = query / query.shape[-1] ** 0.5
    S = torch.zeros(value.shape[1], key.shape[1], dtype=key.dtype)
    outputs = []
    for q, k, v, b in zip(query, key, value, beta):
        S = S + b * torch.outer(v - S @ k, k)
        outputs.append(S @ q)
    return torch.stack(outputs)
