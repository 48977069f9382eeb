# mistake: S k is added, v + S k
import numpy as np


def delta_rule(query, key, value, beta):
    S = np.zeros((value.shape[1], key.shape[1]))
    out = []
    for q, k, v, b in zip(query, key, value, beta):
        S = S + b * np.outer(v + S @ k, k)
        out.append(S @ q)
    return np.array(out)
