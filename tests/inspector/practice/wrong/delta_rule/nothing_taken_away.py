# mistake: plain linear attention: S + beta v k^T, the old value is not taken away
import torch


def delta_rule(query, key, value, beta):
    S = torch.zeros(value.shape[1], key.shape[1], dtype=key.dtype)
    outputs = []
    for q, k, v, b in zip(query, key, value, beta):
        S = S + b * torch.outer(v, k)
        outputs.append(S @ q)
    return torch.stack(outputs)
