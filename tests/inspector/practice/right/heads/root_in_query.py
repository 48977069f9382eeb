# the query is scaled before the heads are split
import torch


def multi_head(query, key, value, heads):
    B, n, D = query.shape
    query = query * (D // heads) ** -0.5
    q, k, v = (x.reshape(B, n, heads, -1).transpose(1, 2) for x in (query, key, value))
    return ((q @ k.mT).softmax(-1) @ v).transpose(1, 2).flatten(2)
