# mistake: sums and log probs are multiplied in place of added
import torch


def beam_step(scores, log_probs, width):
    V = log_probs.size(1)
    total = scores.unsqueeze(-1) * log_probs
    best, index = total.view(-1).topk(width)
    return best, torch.div(index, V, rounding_mode="floor"), index % V
