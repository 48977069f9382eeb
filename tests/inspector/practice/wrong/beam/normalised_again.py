# mistake: log_softmax over the sums, which removes each beam's own score
import torch


def beam_step(scores, log_probs, width):
    V = log_probs.size(1)
    total = torch.log_softmax(scores[:, None] + log_probs, dim=-1)
    best, index = total.flatten().topk(width)
    return best, index // V, index % V
