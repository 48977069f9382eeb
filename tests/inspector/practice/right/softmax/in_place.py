import torch


def softmax(scores):
    weights = scores.clone()
    weights -= weights.max(dim=1, keepdim=True)[0]
    weights.exp_()
    weights /= weights.sum(dim=1, keepdim=True)
    return weights
