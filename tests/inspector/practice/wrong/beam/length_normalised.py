# mistake: the sums are divided by the length (2) before they are compared and given back
import numpy as np


def beam_step(scores, log_probs, width):
    total = (scores[:, None] + log_probs) / 2
    order = np.argsort(total, axis=None)[::-1][:width]
    beams, tokens = np.unravel_index(order, total.shape)
    return total[beams, tokens], beams, tokens
