# running maximum and running sum, as in FlashAttention
import math


def softmax(scores):
    rows = []
    for row in scores.tolist():
        top, total = -math.inf, 0.0
        for score in row:
            if score == -math.inf:
                continue
            new = max(top, score)
            total = total * math.exp(top - new) + math.exp(score - new)
            top = new
        rows.append([math.exp(score - top) / total for score in row])
    return rows
