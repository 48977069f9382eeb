def merge(words):
    counts = {}
    for word, count in words.items():
        for i in range(len(word) - 1):
            pair = (word[i], word[i + 1])
            counts[pair] = counts.get(pair, 0) + count
    best = None
    for pair in counts:
        if best is None or counts[pair] > counts[best] or (counts[pair] == counts[best] and pair < best):
            best = pair
    merged = {}
    for word, count in words.items():
        symbols = []
        i = 0
        while i < len(word):
            if i + 1 < len(word) and (word[i], word[i + 1]) == best:
                symbols.append(word[i] + word[i + 1])
                i += 2
            else:
                symbols.append(word[i])
                i += 1
        merged[tuple(symbols)] = merged.get(tuple(symbols), 0) + count
    return best, merged
