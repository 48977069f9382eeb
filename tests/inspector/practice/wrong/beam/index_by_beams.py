# mistake: flat index divided by the number of beams
import numpy as np


def beam_step(scores, log_probs, width):
    total = (scores[:, None] + log_probs).ravel()
    order = np.argsort(-total)[:width]
    b = len(scores)
    return total[order], order // b, order % b
