# mistake: the sums of the beams so far are not added to the log probs
import torch


def beam_step(scores, log_probs, width):
    V = log_probs.shape[1]
    best, index = torch.topk(log_probs.flatten(), width)
    return best, index // V, index % V
