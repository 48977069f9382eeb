# mistake: a pair that is twice in a word is counted once (a set of pairs)
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in set(zip(word, word[1:])):
            pairs[pair] += count
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
    for word, count in words.items():
        new, i = [], 0
        while i < len(word):
            if word[i : i + 2] == best:
                new.append(word[i] + word[i + 1])
                i += 2
            else:
                new.append(word[i])
                i += 1
        out[tuple(new)] += count
    return best, dict(out)
