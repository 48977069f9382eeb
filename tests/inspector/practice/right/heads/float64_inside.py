# computed in float64, given back in the dtype of the query
import torch


def multi_head(query, key, value, heads):
    size = query.shape[-1] // heads
    outs = []
    for h in range(heads):
        q, k, v = (x[..., h * size : (h + 1) * size].double() for x in (query, key, value))
        outs.append(torch.softmax(q @ k.transpose(1, 2) / size**0.5, dim=-1) @ v)
    return torch.cat(outs, dim=-1).to(query.dtype)
