# mistake: replaced in the joined string without regard to where a symbol begins or ends
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
    for word, count in words.items():
        out[tuple(" ".join(word).replace(" ".join(best), "".join(best)).split())] += count
    return best, dict(out)
