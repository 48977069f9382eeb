# mistake: softmax over the query axis
import math

import torch


def attention(query, key, value):
    scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(query.size(2))
    weights = torch.softmax(scores, dim=1)
    return torch.bmm(weights, value)
