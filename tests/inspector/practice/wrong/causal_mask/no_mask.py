# mistake: no mask at all
import math

import torch


def causal_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return torch.softmax(scores, dim=-1) @ value
