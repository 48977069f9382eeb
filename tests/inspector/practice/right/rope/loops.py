import math


def rotate(x, base):
    out = []
    for text in x.tolist():
        rows = []
        for position, row in enumerate(text):
            half = len(row) // 2
            turned = [0.0] * len(row)
            for i in range(half):
                angle = position * base ** (-2 * i / len(row))
                a, b = row[i], row[i + half]
                turned[i] = a * math.cos(angle) - b * math.sin(angle)
                turned[i + half] = a * math.sin(angle) + b * math.cos(angle)
            rows.append(turned)
        out.append(rows)
    return out
