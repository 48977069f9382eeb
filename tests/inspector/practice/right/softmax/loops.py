import math


def softmax(scores):
    weights = []
    for row in scores:
        largest = max(float(score) for score in row)
        powers = [math.exp(float(score) - largest) for score in row]
        total = sum(powers)
        weights.append([power / total for power in powers])
    return weights
