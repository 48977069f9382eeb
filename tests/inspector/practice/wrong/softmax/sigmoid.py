# mistake: sigmoid of every score in place of softmax
import torch


def softmax(scores):
    return torch.sigmoid(scores)
