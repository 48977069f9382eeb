# mistake: width continuations of every beam come back, b * width of them
import torch


def beam_step(scores, log_probs, width):
    total = scores[:, None] + log_probs
    best, tokens = total.topk(width, dim=1)
    beams = torch.arange(len(scores))[:, None].expand_as(tokens)
    order = best.flatten().argsort(descending=True)
    return best.flatten()[order], beams.flatten()[order], tokens.flatten()[order]
