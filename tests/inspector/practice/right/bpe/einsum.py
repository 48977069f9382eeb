# pairs counted as a product of one-hot matrices
import numpy as np


def merge(words):
    symbols = sorted({symbol for word in words for symbol in word})
    counts = np.zeros((len(symbols), len(symbols)))
    for word, count in words.items():
        hot = np.eye(len(symbols))[[symbols.index(symbol) for symbol in word]]
        counts += count * np.einsum("ia,ib->ab", hot[:-1], hot[1:])
    left, right = np.unravel_index(counts.argmax(), counts.shape)
    pair = (symbols[left], symbols[right])
    merged = {}
    for word, count in words.items():
        out, i = [], 0
        while i < len(word):
            step = 2 if word[i : i + 2] == pair else 1
            out.append("".join(word[i : i + step]))
            i += step
        merged[tuple(out)] = merged.get(tuple(out), 0) + count
    return pair, merged
