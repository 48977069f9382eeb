# mistake: returns the logarithms of the weights
import torch


def softmax(scores):
    top = scores.amax(dim=-1, keepdim=True)
    shifted = scores - top
    return shifted - torch.log(torch.exp(shifted).sum(dim=-1, keepdim=True))
