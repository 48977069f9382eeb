# the query is divided by the root before the product
import math

import torch


def attention(query, key, value):
    query = query / math.sqrt(query.shape[-1])
    weights = torch.softmax(query @ key.transpose(-1, -2), dim=-1)
    return weights @ value
