# mistake: the loop ends at len - 1 and the last symbol is lost where it was not merged
from collections import Counter


def merge(words):
    pairs = Counter()
    for word, count in words.items():
        for i in range(len(word) - 1):
            pairs[word[i], word[i + 1]] += count
    best = min(pairs, key=lambda p: (-pairs[p], p))
    out = Counter()
    for word, count in words.items():
        new, i = [], 0
        while i < len(word) - 1:
            if (word[i], word[i + 1]) == best:
                new.append(word[i] + word[i + 1])
                i += 2
            else:
                new.append(word[i])
                i += 1
        out[tuple(new)] += count
    return best, dict(out)
