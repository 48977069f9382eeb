# mistake: overlapping occurrences are merged twice, a a a becomes aa aa
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
    for word, count in words.items():
        new, used = [], set()
        for i in range(len(word)):
            if word[i : i + 2] == best:
                new.append(word[i] + word[i + 1])
                used |= {i, i + 1}
            elif i not in used:
                new.append(word[i])
        out[tuple(new)] += count
    return best, dict(out)
