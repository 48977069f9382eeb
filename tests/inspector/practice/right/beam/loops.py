def beam_step(scores, log_probs, width):
    found = []
    for beam in range(len(scores)):
        for token in range(len(log_probs[beam])):
            found.append((float(scores[beam]) + float(log_probs[beam][token]), beam, token))
    found.sort(key=lambda one: -one[0])
    best = found[:width]
    return [one[0] for one in best], [one[1] for one in best], [one[2] for one in best]
