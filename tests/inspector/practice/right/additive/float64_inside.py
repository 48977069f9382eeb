# computed in float64, given back in the dtype of the query
import numpy as np


def additive_scores(query, key, w_query, w_key, v):
    wide = [x.astype(np.float64) for x in (query, key, w_query, w_key, v)]
    q, k = wide[0] @ wide[2].T, wide[1] @ wide[3].T
    return np.stack([np.tanh(row + k) @ wide[4] for row in q]).astype(query.dtype)
