# heapq.nlargest over all continuations
import heapq


def beam_step(scores, log_probs, width):
    rows = zip(scores.tolist(), log_probs.tolist())
    every = ((score + log_prob, b, t) for b, (score, row) in enumerate(rows) for t, log_prob in enumerate(row))
    return tuple(list(column) for column in zip(*heapq.nlargest(width, every)))
