# pairs sorted by count and symbols, a Counter given back
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    best = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[0][0]

    def join(word):
        if len(word) < 2:
            return word
        if word[:2] == best:
            return (word[0] + word[1], *join(word[2:]))
        return (word[0], *join(word[1:]))

    merged = Counter()
    for word, count in words.items():
        merged[join(word)] += count
    return best, merged
