import torch


def delta_rule(query, key, value, beta):
    S = torch.zeros(value.shape[1], key.shape[1], dtype=key.dtype)
    out = value.clone()
    for t in range(len(key)):
        out[t] -= S @ key[t]
        out[t] *= beta[t]
        S += out[t][:, None] * key[t][None, :]
        out[t] = S @ query[t]
    return out
