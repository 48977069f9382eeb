# mistake: flat index divided by the beam width in place of the vocabulary
import torch


def beam_step(scores, log_probs, width):
    total = scores.unsqueeze(1) + log_probs
    best, index = total.view(-1).topk(width)
    return best, index // width, index % width
