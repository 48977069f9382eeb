# a copy of each word as a list, changed where it stands
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    best = min(pairs, key=lambda pair: (-pairs[pair], pair))
    merged = Counter()
    for word, count in words.items():
        symbols, i = list(word), 0
        while i < len(symbols) - 1:
            if symbols[i] == best[0] and symbols[i + 1] == best[1]:
                symbols[i] += symbols.pop(i + 1)
            i += 1
        merged[tuple(symbols)] += count
    return best, dict(merged)
