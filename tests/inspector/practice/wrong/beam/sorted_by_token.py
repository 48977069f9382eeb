# mistake: the best are sorted by token, not by score
import numpy as np


def beam_step(scores, log_probs, width):
    V = log_probs.shape[1]
    total = (scores[:, None] + log_probs).ravel()
    best = np.argpartition(-total, width - 1)[:width]
    best = best[np.argsort(best % V, kind="stable")]
    return total[best], best // V, best % V
