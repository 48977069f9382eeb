# mistake: divided by d_k in place of its root
import torch


def attention(query, key, value):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / d_k
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value)
