import math


def causal_attention(query, key, value):
    query, key, value = query.tolist(), key.tolist(), value.tolist()
    outputs = []
    for q, k, v in zip(query, key, value):
        rows = []
        for i in range(len(q)):
            scores = [sum(x * y for x, y in zip(q[i], k[j])) / math.sqrt(len(q[i])) for j in range(i + 1)]
            powers = [math.exp(s - max(scores)) for s in scores]
            rows.append([sum(p * v[j][c] for j, p in enumerate(powers)) / sum(powers) for c in range(len(v[0]))])
        outputs.append(rows)
    return outputs
