# mistake: softmax of the negated scores, as for distances
import torch


def softmax(scores):
    energy = -scores
    energy[torch.isinf(energy)] = float("-inf")
    return torch.softmax(energy, dim=-1)
