# mistake: quotient and remainder swapped: tokens given as beams
import torch


def beam_step(scores, log_probs, width):
    V = log_probs.size(1)
    best, index = (scores[:, None] + log_probs).reshape(-1).topk(width)
    return best, index % V, index // V
