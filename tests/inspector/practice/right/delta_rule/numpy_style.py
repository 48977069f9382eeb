import numpy as np


def delta_rule(query, key, value, beta):
    S = np.zeros((value.shape[1], key.shape[1]))
    out = np.empty_like(value)
    for t in range(len(key)):
        S = S + beta[t] * np.outer(value[t] - S @ key[t], key[t])
        out[t] = S @ query[t]
    return out
