# computed in float64, given back in the dtype of the query
import torch


def attention(query, key, value):
    q, k, v = query.double(), key.double(), value.double()
    weights = torch.softmax(q @ k.transpose(1, 2) / q.size(-1) ** 0.5, dim=-1)
    return (weights @ v).to(query.dtype)
