# mistake: occurrences are merged from the right, a a a becomes a aa
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
    for word, count in words.items():
        word = list(word)
        i = len(word) - 2
        while i >= 0:
            if (word[i], word[i + 1]) == best:
                word[i : i + 2] = [word[i] + word[i + 1]]
                i -= 1
            i -= 1
        out[tuple(word)] += count
    return best, dict(out)
