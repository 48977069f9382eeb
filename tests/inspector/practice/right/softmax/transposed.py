# columns first, transposed before and after
import torch


def softmax(scores):
    columns = scores.T
    e = (columns - columns.max(dim=0).values).exp()
    return (e / e.sum(dim=0)).T
