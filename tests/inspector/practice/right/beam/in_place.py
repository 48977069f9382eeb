import numpy as np


def beam_step(scores, log_probs, width):
    total = log_probs.copy()
    total += scores[:, None]
    best, beams, tokens = [], [], []
    for _ in range(width):
        b, t = divmod(int(total.argmax()), total.shape[1])
        best.append(float(total[b, t]))
        beams.append(b)
        tokens.append(t)
        total[b, t] = -np.inf
    return best, beams, tokens
