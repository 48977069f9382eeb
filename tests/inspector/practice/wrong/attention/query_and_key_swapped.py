# mistake: keys ask and queries answer (k q^T), so the shapes do not fit the values
import math

import torch


def attention(query, key, value):
    scores = key @ query.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value
