import torch


def beam_step(scores, log_probs, width):
    """Return scores, beams and tokens of the best continuations, [width] each, best first."""
    totals = scores[:, None] + log_probs
    best, places = torch.topk(totals.flatten(), width)
    return best, places // log_probs.shape[1], places % log_probs.shape[1]
