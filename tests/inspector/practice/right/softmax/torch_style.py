import torch


def softmax(scores):
    return torch.softmax(scores, dim=-1)
