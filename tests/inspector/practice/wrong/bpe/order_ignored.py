# mistake: (a, b) and (b, a) are counted as the same pair
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for a, b in zip(word, word[1:]):
            pairs[tuple(sorted((a, b)))] += count
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
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
