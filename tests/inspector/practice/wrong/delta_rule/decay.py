# mistake: the state is multiplied by 1 - beta in place of the delta rule
import numpy as np


def delta_rule(query, key, value, beta):
    S = np.zeros((value.shape[1], key.shape[1]))
    out = []
    for q, k, v, b in zip(query, key, value, beta):
        S = (1 - b) * S + b * np.outer(v, k)
        out.append(S @ q)
    return np.array(out)
