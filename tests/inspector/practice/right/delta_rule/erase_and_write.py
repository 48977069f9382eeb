# S (I - beta k k^T) + beta v k^T
import numpy as np


def delta_rule(query, key, value, beta):
    E = key.shape[1]
    S = np.zeros((value.shape[1], E))
    out = []
    for q, k, v, b in zip(query, key, value, beta):
        S = S @ (np.eye(E) - b * np.outer(k, k)) + b * np.outer(v, k)
        out.append(S @ q)
    return np.array(out)
