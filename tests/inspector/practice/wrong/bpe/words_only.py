# mistake: gives back the merged words without the pair
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    a, b = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
    for word, count in words.items():
        new, i = [], 0
        while i < len(word):
            if word[i : i + 2] == (a, b):
                new.append(a + b)
                i += 2
            else:
                new.append(word[i])
                i += 1
        out[tuple(new)] += count
    return dict(out)
