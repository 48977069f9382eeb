# mistake: goes on merging pairs until none is twice there, not one merge
from collections import Counter


def merge(words):
    first = None
    while True:
        pairs = Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += count
        if not pairs or max(pairs.values()) < 2:
            return first, words
        best = min(pairs, key=lambda p: (-pairs[p], p))
        first = first or best
        out = Counter()
        for word, count in words.items():
            new, i = [], 0
            while i < len(word):
                step = 2 if word[i : i + 2] == best else 1
                new.append("".join(word[i : i + step]))
                i += step
            out[tuple(new)] += count
        words = dict(out)
