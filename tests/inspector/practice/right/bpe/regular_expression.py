# a pattern with blanks around both symbols, as in Sennrich's own code
import re
from collections import defaultdict


def merge(words):
    pairs = defaultdict(int)
    for word, count in words.items():
        for i in range(len(word) - 1):
            pairs[word[i], word[i + 1]] += count
    top = max(pairs.values())
    best = min(pair for pair in pairs if pairs[pair] == top)
    pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(best)) + r"(?!\S)")
    merged = defaultdict(int)
    for word, count in words.items():
        merged[tuple(pattern.sub(lambda _: "".join(best), " ".join(word)).split(" "))] += count
    return best, dict(merged)
