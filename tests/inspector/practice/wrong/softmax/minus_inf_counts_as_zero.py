# mistake: replaces -inf by 0, so masked keys get exp(0) as weight
import torch


def softmax(scores):
    scores = torch.where(torch.isinf(scores), torch.zeros_like(scores), scores)
    return torch.softmax(scores, dim=-1)
