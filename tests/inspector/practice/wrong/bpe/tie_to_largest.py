# mistake: of equally frequent pairs the largest is taken
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    best = max(pairs, key=lambda p: (pairs[p], p))
    out = Counter()
    for word, count in words.items():
        new, i = [], 0
        while i < len(word):
            if i + 1 < len(word) and (word[i], word[i + 1]) == best:
                new.append(word[i] + word[i + 1])
                i += 2
            else:
                new.append(word[i])
                i += 1
        out[tuple(new)] += count
    return best, dict(out)
