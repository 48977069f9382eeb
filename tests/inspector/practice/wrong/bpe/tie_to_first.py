# mistake: of equally frequent pairs the one seen first is taken (max of a dict)
from collections import defaultdict


def merge(words):
    pairs = defaultdict(int)
    for word, count in words.items():
        for a, b in zip(word, word[1:]):
            pairs[a, b] += count
    best = max(pairs, key=pairs.get)
    out = defaultdict(int)
    for word, count in words.items():
        new, i = [], 0
        while i < len(word):
            if word[i : i + 2] == best:
                new.append("".join(best))
                i += 2
            else:
                new.append(word[i])
                i += 1
        out[tuple(new)] += count
    return best, dict(out)
