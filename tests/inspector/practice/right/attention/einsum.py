import torch


def attention(query, key, value):
    scores = torch.einsum("bqe,bte->bqt", query, key) * query.shape[-1] ** -0.5
    return torch.einsum("bqt,btf->bqf", scores.softmax(dim=-1), value)
