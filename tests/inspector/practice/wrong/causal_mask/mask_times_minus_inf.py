# mistake: 0 * -inf: the mask is multiplied by -inf and everything becomes nan
import math

import torch


def causal_attention(query, key, value):
    n = query.size(1)
    mask = torch.triu(torch.ones(n, n), diagonal=1) * float("-inf")
    scores = query @ key.transpose(1, 2) / math.sqrt(query.size(2)) + mask
    return torch.softmax(scores, dim=-1) @ value
