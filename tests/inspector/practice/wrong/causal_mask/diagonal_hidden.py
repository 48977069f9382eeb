# mistake: triu without diagonal=1, a token does not see itself and the first row is nan
import math

import torch


def causal_attention(query, key, value):
    n = query.size(1)
    mask = torch.triu(torch.ones(n, n, dtype=torch.bool))
    scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(query.size(-1))
    scores = scores.masked_fill(mask, float("-inf"))
    return torch.bmm(torch.softmax(scores, dim=-1), value)
