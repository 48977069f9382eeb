# the sum of the weights is divided from the output
import torch


def attention(query, key, value):
    scores = torch.bmm(query, key.transpose(1, 2)) / query.shape[2] ** 0.5
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return torch.bmm(powers, value) / powers.sum(-1, keepdim=True)
