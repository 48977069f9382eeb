import math


def step(query, key, value, keys, values):
    query = query.tolist()
    keys = [old + new for old, new in zip(keys.tolist(), key.tolist())]
    values = [old + new for old, new in zip(values.tolist(), value.tolist())]
    output = []
    for (q,), ks, vs in zip(query, keys, values):
        scores = [sum(a * b for a, b in zip(q, k)) / math.sqrt(len(q)) for k in ks]
        powers = [math.exp(s - max(scores)) for s in scores]
        output.append([[sum(p * v[c] for p, v in zip(powers, vs)) / sum(powers) for c in range(len(q))]])
    return output, keys, values
