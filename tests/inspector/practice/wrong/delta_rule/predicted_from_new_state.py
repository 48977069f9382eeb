# mistake: the new value is added first, then S k is taken away from the state that holds it
import numpy as np


def delta_rule(query, key, value, beta):
    S = np.zeros((value.shape[1], key.shape[1]))
    out = []
    for q, k, v, b in zip(query, key, value, beta):
        S = S + b * np.outer(v, k)
        S = S - b * np.outer(S @ k, k)
        out.append(S @ q)
    return np.stack(out)
