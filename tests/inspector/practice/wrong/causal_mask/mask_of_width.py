# mistake: the mask has the size of the width (E x E) and not of the length
import math

import torch


def causal_attention(query, key, value):
    E = query.size(-1)
    mask = torch.triu(torch.ones(E, E), diagonal=1).bool()
    scores = query @ key.transpose(1, 2) / math.sqrt(E)
    return torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1) @ value
