import torch


def softmax(scores):
    """Return the softmax of each row: scores [Q, T] -> weights [Q, T]."""
    exp = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return exp / exp.sum(dim=-1, keepdim=True)
