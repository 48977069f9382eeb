# mistake: words without the pair are left out of the result
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
    for word, count in words.items():
        if best not in zip(word, word[1:]):
            continue
        new, i = [], 0
        while i < len(word):
            step = 2 if word[i : i + 2] == best else 1
            new.append("".join(word[i : i + step]))
            i += step
        out[tuple(new)] += count
    return best, dict(out)
