import math


def attention(query, key, value):
    query, key, value = query.tolist(), key.tolist(), value.tolist()
    outputs = []
    for q_rows, k_rows, v_rows in zip(query, key, value):
        rows = []
        for q in q_rows:
            scores = [sum(a * b for a, b in zip(q, k)) / math.sqrt(len(q)) for k in k_rows]
            top = max(scores)
            powers = [math.exp(score - top) for score in scores]
            total = sum(powers)
            rows.append([sum(p / total * v[f] for p, v in zip(powers, v_rows)) for f in range(len(v_rows[0]))])
        outputs.append(rows)
    return outputs
