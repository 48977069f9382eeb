# mistake: the prediction is read by the key of the token before
import numpy as np


def delta_rule(query, key, value, beta):
    S = np.zeros((value.shape[1], key.shape[1]))
    out = []
    previous = np.zeros(key.shape[1])
    for t in range(len(key)):
        S = S + beta[t] * np.outer(value[t] - S @ previous, key[t])
        out.append(S @ query[t])
        previous = key[t]
    return np.array(out)
