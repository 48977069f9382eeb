# np.argpartition, then sorted
import numpy as np


def beam_step(scores, log_probs, width):
    total = (scores.reshape(-1, 1) + log_probs).reshape(-1)
    best = np.argpartition(total, -width)[-width:]
    best = best[np.argsort(total[best])[::-1]]
    return total[best], best // log_probs.shape[1], best % log_probs.shape[1]
