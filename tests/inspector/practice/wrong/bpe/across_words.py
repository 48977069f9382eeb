# mistake: pairs are counted across the boundaries of words
from collections import Counter


def merge(words):
    pairs, previous = Counter(), None
    for word, count in words.items():
        for symbol in word:
            if previous is not None:
                pairs[previous, symbol] += count
            previous = symbol
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
    for word, count in words.items():
        new = []
        for symbol in word:
            if new and (new[-1], symbol) == best:
                new[-1] += symbol
            else:
                new.append(symbol)
        out[tuple(new)] += count
    return best, dict(out)
