# pairs counted by np.add.at
import numpy as np


def merge(words):
    symbols, codes = np.unique([symbol for word in words for symbol in word], return_inverse=True)
    counts = np.zeros((len(symbols),) * 2, dtype=int)
    start = 0
    for word, count in words.items():
        ids = codes[start : start + len(word)]
        np.add.at(counts, (ids[:-1], ids[1:]), count)
        start += len(word)
    i, j = divmod(int(counts.argmax()), len(symbols))
    pair = (str(symbols[i]), str(symbols[j]))
    merged = {}
    for word, count in words.items():
        new, at = [], 0
        while at < len(word):
            if word[at : at + 2] == pair:
                new.append(pair[0] + pair[1])
                at += 2
            else:
                new.append(word[at])
                at += 1
        merged[tuple(new)] = merged.get(tuple(new), 0) + count
    return pair, merged
