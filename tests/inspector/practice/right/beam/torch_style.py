import torch


def beam_step(scores, log_probs, width):
    V = log_probs.size(1)
    best, index = torch.topk((scores.unsqueeze(1) + log_probs).view(-1), width)
    return best, torch.div(index, V, rounding_mode="floor"), index % V
