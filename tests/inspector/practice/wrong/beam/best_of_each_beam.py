# mistake: one best token of each beam, not the best over all beams
import torch


def beam_step(scores, log_probs, width):
    total = scores[:, None] + log_probs
    best, tokens = total.max(dim=1)
    order = torch.argsort(best, descending=True)[:width]
    return best[order], order, tokens[order]
