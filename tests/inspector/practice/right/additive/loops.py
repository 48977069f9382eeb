import math


def additive_scores(query, key, w_query, w_key, v):
    w_query, w_key, v = w_query.tolist(), w_key.tolist(), v.tolist()

    def project(matrix, x):
        return [sum(w * a for w, a in zip(row, x)) for row in matrix]

    scores = []
    for q in query.tolist():
        projected = project(w_query, q)
        scores.append(
            [sum(c * math.tanh(a + b) for c, a, b in zip(v, projected, project(w_key, k))) for k in key.tolist()]
        )
    return scores
