# pairs counted in a tensor
import torch


def merge(words):
    symbols = sorted(set().union(*words))
    ids = {symbol: i for i, symbol in enumerate(symbols)}
    counts = torch.zeros(len(symbols), len(symbols), dtype=torch.long)
    for word, count in words.items():
        codes = torch.tensor([ids[symbol] for symbol in word])
        counts.index_put_((codes[:-1], codes[1:]), torch.tensor(count), accumulate=True)
    most = torch.nonzero(counts == counts.max())[0].tolist()
    pair = (symbols[most[0]], symbols[most[1]])
    merged = {}
    for word, count in words.items():
        new = []
        rest = list(word)
        while rest:
            take = 2 if tuple(rest[:2]) == pair else 1
            new.append("".join(rest[:take]))
            rest = rest[take:]
        merged[tuple(new)] = merged.get(tuple(new), 0) + count
    return pair, merged
