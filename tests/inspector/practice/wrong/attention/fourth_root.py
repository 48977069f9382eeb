# mistake: the root is taken twice, the fourth root divides the query alone
import math

import torch


def attention(query, key, value):
    root = math.sqrt(query.size(-1))
    q = query / math.sqrt(root)
    return torch.softmax(q @ key.transpose(1, 2), dim=-1) @ value
