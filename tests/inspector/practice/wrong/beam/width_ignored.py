# mistake: as many continuations as there were beams, the width is ignored
def beam_step(scores, log_probs, width):
    found = []
    for b in range(len(scores)):
        for t in range(log_probs.shape[1]):
            found.append((float(scores[b] + log_probs[b, t]), b, t))
    found.sort(reverse=True)
    found = found[: len(scores)]
    return [f[0] for f in found], [f[1] for f in found], [f[2] for f in found]
