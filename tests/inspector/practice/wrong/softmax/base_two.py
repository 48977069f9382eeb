# mistake: 2 to the power of the score in place of e to the power of the score
import torch


def softmax(scores):
    powers = 2 ** (scores - scores.max(dim=-1, keepdim=True).values)
    return powers / powers.sum(dim=-1, keepdim=True)
