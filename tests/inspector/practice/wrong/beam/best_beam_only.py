# mistake: only the best beam is extended
import torch


def beam_step(scores, log_probs, width):
    b = scores.argmax()
    best, tokens = (scores[b] + log_probs[b]).topk(width)
    return best, torch.full_like(tokens, b.item()), tokens
