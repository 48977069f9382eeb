# mistake: beta is not used
import torch


def delta_rule(query, key, value, beta):
    S = torch.zeros(value.size(1), key.size(1), dtype=value.dtype)
    out = []
    for t in range(query.size(0)):
        error = value[t] - S @ key[t]
        S = S + torch.outer(error, key[t])
        out.append(S @ query[t])
    return torch.stack(out)
