from collections import Counter


def merge(words):
    """Return the most frequent adjacent pair, and the words with all its occurrences merged."""
    counts = Counter()
    for word, times in words.items():
        for pair in zip(word, word[1:]):
            counts[pair] += times
    pair = min(counts, key=lambda pair: (-counts[pair], pair))
    merged = Counter()
    for word, times in words.items():
        symbols, at = [], 0
        while at < len(word):
            step = 2 if word[at : at + 2] == pair else 1
            symbols.append("".join(word[at : at + step]))
            at += step
        merged[tuple(symbols)] += times
    return pair, dict(merged)
