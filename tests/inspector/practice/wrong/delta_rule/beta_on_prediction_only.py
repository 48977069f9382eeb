# mistake: beta on the prediction S k alone, the value is written whole
import numpy as np


def delta_rule(query, key, value, beta):
    S = np.zeros((value.shape[1], key.shape[1]))
    out = np.zeros_like(value)
    for t in range(len(query)):
        S += np.outer(value[t] - beta[t] * (S @ key[t]), key[t])
        out[t] = S @ query[t]
    return out
