# the best of each beam first, then the best of those
import torch


def beam_step(scores, log_probs, width):
    k = min(width, log_probs.size(1))
    values, tokens = log_probs.topk(k, dim=1)
    best, index = (values + scores[:, None]).flatten().topk(width)
    return best, index // k, tokens.flatten()[index]
