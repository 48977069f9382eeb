# mistake: compares with the symbol before even if it was merged just now, so a a a a becomes one long symbol
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
    for word, count in words.items():
        new = [word[0]]
        for before, symbol in zip(word, word[1:]):
            if (before, symbol) == best:
                new[-1] += symbol
            else:
                new.append(symbol)
        out[tuple(new)] += count
    return best, dict(out)
