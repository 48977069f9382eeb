import numpy as np


def beam_step(scores, log_probs, width):
    total = scores[:, None] + log_probs
    order = np.argsort(-total, axis=None)[:width]
    beams, tokens = np.unravel_index(order, total.shape)
    return total[beams, tokens], beams, tokens
