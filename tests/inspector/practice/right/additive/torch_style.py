import torch
import torch.nn.functional as F


def additive_scores(query, key, w_query, w_key, v):
    q = F.linear(query, w_query).unsqueeze(1)
    k = F.linear(key, w_key).unsqueeze(0)
    return torch.tanh(q + k) @ v
