import torch


def softmax(scores):
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return torch.einsum("qt,q->qt", powers, 1 / torch.einsum("qt->q", powers))
