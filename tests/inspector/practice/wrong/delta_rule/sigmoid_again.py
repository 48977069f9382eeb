# mistake: beta goes through a sigmoid once more
import torch


def delta_rule(query, key, value, beta):
    beta = torch.sigmoid(beta)
    S = torch.zeros(value.shape[1], key.shape[1], dtype=key.dtype)
    outputs = []
    for q, k, v, b in zip(query, key, value, beta):
        S = S + b * torch.outer(v - S @ k, k)
        outputs.append(S @ q)
    return torch.stack(outputs)
