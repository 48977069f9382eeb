# mistake: the log probs are turned into probabilities before they are added
import torch


def beam_step(scores, log_probs, width):
    V = log_probs.size(1)
    total = scores[:, None] + log_probs.exp()
    best, index = total.view(-1).topk(width)
    return best, index // V, index % V
