# mistake: w_query projects the keys too
import numpy as np


def additive_scores(query, key, w_query, w_key, v):
    scores = np.zeros((len(query), len(key)))
    for i, q in enumerate(query):
        for j, k in enumerate(key):
            scores[i, j] = v @ np.tanh(w_query @ q + w_query @ k)
    return scores
