import torch


def beam_step(scores, log_probs, width):
    total = torch.einsum("b,v->bv", scores, torch.ones_like(log_probs[0])) + log_probs
    best, index = total.flatten().topk(width)
    return best, index // log_probs.shape[1], index % log_probs.shape[1]
