import math


def multi_head(query, key, value, heads):
    query, key, value = query.tolist(), key.tolist(), value.tolist()
    n, width = len(query[0]), len(query[0][0])
    size = width // heads
    out = [[[0.0] * width for _ in range(n)] for _ in query]
    for b in range(len(query)):
        for h in range(heads):
            columns = range(h * size, (h + 1) * size)
            for i in range(n):
                scores = [sum(query[b][i][c] * key[b][j][c] for c in columns) / math.sqrt(size) for j in range(n)]
                powers = [math.exp(s - max(scores)) for s in scores]
                for c in columns:
                    out[b][i][c] = sum(p * value[b][j][c] for j, p in enumerate(powers)) / sum(powers)
    return out
