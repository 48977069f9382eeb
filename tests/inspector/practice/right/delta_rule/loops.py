def delta_rule(query, key, value, beta):
    query, key, value, beta = query.tolist(), key.tolist(), value.tolist(), beta.tolist()
    state = [[0.0] * len(key[0]) for _ in value[0]]
    outputs = []
    for q, k, v, b in zip(query, key, value, beta):
        for f, row in enumerate(state):
            error = v[f] - sum(s * a for s, a in zip(row, k))
            for e in range(len(k)):
                row[e] += b * error * k[e]
        outputs.append([sum(s * a for s, a in zip(row, q)) for row in state])
    return outputs
