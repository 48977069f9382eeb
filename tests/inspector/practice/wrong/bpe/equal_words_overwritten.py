# mistake: merged words that become equal overwrite each other's counts
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = {}
    for word, count in words.items():
        new, i = [], 0
        while i < len(word):
            if word[i : i + 2] == best:
                new.append(word[i] + word[i + 1])
                i += 2
            else:
                new.append(word[i])
                i += 1
        out[tuple(new)] = count
    return best, out
