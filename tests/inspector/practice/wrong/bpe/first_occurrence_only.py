# mistake: only the first occurrence in a word is merged
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += count
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
    for word, count in words.items():
        for i in range(len(word) - 1):
            if (word[i], word[i + 1]) == best:
                word = word[:i] + (word[i] + word[i + 1],) + word[i + 2 :]
                break
        out[word] += count
    return best, dict(out)
