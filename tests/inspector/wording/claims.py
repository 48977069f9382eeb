"""Holds a sentence about a head against the head's map: every number in it is computed again, with numpy alone.

A sentence that no pattern knows fails too, so that a new kind of sentence asks for its own check.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

from inspector import chance
from inspector.text import token
from inspector.trace import AttentionSite, Trace

FRACTIONS = {"a quarter": 1 / 4, "a third": 1 / 3, "half": 1 / 2, "two thirds": 2 / 3, "three quarters": 3 / 4}
SHARE = r"(a quarter|a third|half|two thirds|three quarters|over 99 %|nearly all|under 1 %|\d+ %)"
OF = r"of (its attention|this head's attention|the attention of all tokens but the first)"
OF_NEIGHBOURS = r"of (the attention of all tokens but the (?:first|last))"
TOKEN = r"(another |the \d+\w\w )?(`+ ?.+? ?`+)"
LINK = rf"(to write )?{TOKEN}(?: it)? gives {SHARE} of its attention to {TOKEN}(, more than in any other head)?"


def check(sentence: str, trace: Trace, site: AttentionSite, head: int) -> None:
    """Assert that each claim of one sentence holds."""
    name = f"{site.name.capitalize()}, head {head}"
    rest = re.fullmatch(rf"(?:{re.escape(name)}:? )?(.*)\.", sentence, re.DOTALL)
    assert rest, sentence
    claim = re.sub(
        r"^(Where it looks elsewhere: |Its strongest link beyond chance: |Over the whole text, )", "", rest[1]
    )
    strongest = "Its strongest link" in sentence
    claim = re.sub(r"^(mixes several patterns|has too short a text for a pattern): ", "", claim)
    claim = claim[0].lower() + claim[1:]
    map_ = trace.attention(layer=site.layer, head=head, stream=site.stream, call=site.call).astype(np.float64)
    for pattern, holds in PATTERNS.items():
        if found := re.fullmatch(pattern, claim, re.DOTALL):
            assert holds(found, trace, site, map_), (sentence, site)
            if pattern == LINK and strongest:
                assert is_strongest(found, trace, site, map_), sentence
            return
    raise AssertionError(f"no check for: {claim}")


def near(said: str, share: float) -> bool:
    if said in FRACTIONS:
        return abs(FRACTIONS[said] - share) <= 0.0101
    if said in ("over 99 %", "nearly all"):
        return 0.985 < share < 1
    if said == "under 1 %":
        return 0 < share < 0.0051
    return abs(int(said.split()[0]) / 100 - share) <= 0.00501


def rows(of: str, site: AttentionSite, map_: np.ndarray) -> np.ndarray:
    """The queries that a sentence speaks of; it must leave out a first one that sees itself alone, and only that."""
    alone = len(map_) > 1 and len(site.keys) > 1 and not map_[0, 1:].any() and site.stream == "decoder"
    assert (of == "the attention of all tokens but the first") == alone
    return map_[1:] if alone else map_


def positions(which: str | None, said: str, tokens: Sequence[str]) -> list[int]:
    places = [place for place, one in enumerate(tokens) if token(one) == said]
    if which and which != "another ":
        places = [
            place for place in places if tokens[: place + 1].count(tokens[place]) == int(re.findall(r"\d+", which)[0])
        ]
    return places


def link(found: re.Match, trace: Trace, site: AttentionSite, map_: np.ndarray) -> bool:
    write, which, query, share, to, key, most = found.groups()
    assert (site.stream == "cross") == bool(write)
    queries = positions(which, query, site.predicts if write else site.queries)
    keys = positions(to, key, site.keys)
    for i in queries:
        for j in keys:
            if (site.stream != "cross" and i == j) or not near(share, map_[i, j]):
                continue
            others = [
                trace.attention(layer=other.layer, stream=other.stream, call=other.call)[:, i, j].max(
                    where=np.arange(other.heads) != found_head(map_, trace, other, i, j, site), initial=0
                )
                for other in trace.sites_of(site.stream)
            ]
            if beyond_chance(trace, site, map_)[i, j] and (not most or max(others) < map_[i, j]):
                return True
    return False


def found_head(map_: np.ndarray, trace: Trace, other: AttentionSite, i: int, j: int, site: AttentionSite) -> int:
    """The head whose map this is, -1 in another layer."""
    if other != site:
        return -1
    layer = trace.attention(layer=other.layer, stream=other.stream, call=other.call)
    return next(head for head in range(other.heads) if np.array_equal(layer[head], map_.astype(np.float32)))


def is_strongest(found: re.Match, trace: Trace, site: AttentionSite, map_: np.ndarray) -> bool:
    """True if no two other words are linked by more."""
    own = trace.read_by(site.stream)
    source = trace.encoding if site.stream == "cross" else own
    names = site.predicts if site.stream == "cross" else site.queries

    def word(name: str, special: bool) -> bool:
        return not special and name not in ("[CLS]", "[SEP]", "<s>", "</s>") and not marks(name)

    told = beyond_chance(trace, site, map_)
    return not any(
        told[i, j] and (map_[i, j] > 0.26 or map_[i, j] > 0.006 + percent(found[4]))
        for i in range(len(map_))
        for j in range(len(source))
        if word(names[i], site.stream != "cross" and own.special[i])
        and word(source.tokens[j], source.special[j])
        and (site.stream == "cross" or own.words[i] != source.words[j])
    )


def percent(said: str) -> float:
    return FRACTIONS.get(said) or (0.01 if said == "under 1 %" else float(re.findall(r"\d+", said)[0]) / 100)


def marks(name: str) -> bool:
    bare = re.sub("^[▁Ġ]+|^##", "", name)
    return bool(bare) and all(unicodedata.category(letter)[0] == "P" for letter in bare)


def diagonal(offset: int):
    def holds(found: re.Match, _: Trace, site: AttentionSite, map_: np.ndarray) -> bool:
        *_, share, of = found.groups()
        first = len(map_) - len(rows(of, site, map_)) if offset == 0 else 0
        weights = [map_[i, i + offset] for i in range(first, len(map_)) if 0 <= i + offset < map_.shape[1]]
        named = {-1: "the attention of all tokens but the first", 1: "the attention of all tokens but the last"}
        assert of == named.get(offset, of)
        return near(share, sum(weights) / len(weights))

    return holds


def to_tokens(found: re.Match, _: Trace, site: AttentionSite, map_: np.ndarray) -> bool:
    """A share that goes to all keys of these texts."""
    share, of, said = found["share"], found["of"], found["tokens"]
    texts = re.findall(r"`+ ?.+? ?`+", said)
    columns = [place for place, key in enumerate(site.keys) if token(key) in texts]
    if which := re.match(r"the (\d+)\w\w ", said):
        columns = [place for place in columns if site.keys[: place + 1].count(site.keys[place]) == int(which[1])]
    if said.startswith("the first token"):
        columns = [0]
    if said.endswith("other marks"):
        columns = [place for place, key in enumerate(site.keys) if marks(key)]
    return near(share, rows(of, site, map_)[:, columns].sum(axis=1).mean())


def broad(found: re.Match, _: Trace, site: AttentionSite, map_: np.ndarray) -> bool:
    alone = site.stream == "decoder" and not map_[0, 1:].any()
    logs = np.log(map_, out=np.zeros_like(map_), where=map_ > 0)
    entropy = -(map_ * logs).sum(axis=1)[int(alone) :].mean()
    return abs(np.exp(entropy) - int(found[1])) < 0.51 and int(found[2]) == len(site.keys)


def points(found: re.Match, _: Trace, __: AttentionSite, map_: np.ndarray) -> bool:
    return near(found[1], map_.max(axis=1).mean()) and int(found[2]) == len(set(map_.argmax(axis=1).tolist()))


def repeated(trace: Trace, site: AttentionSite, map_: np.ndarray) -> float:
    """The mean share on what followed the query's token at another place; NaN where nothing repeats."""
    text = trace.read_by(site.stream)
    same = [word is not None and known for word, known in zip(text.words, text.known, strict=True)]
    masses = []
    for i in range(len(map_)):
        keys = [
            j
            for j in range(1, len(map_) if site.stream == "encoder" else i + 1)
            if same[i] and same[j - 1] and text.tokens[j - 1] == text.tokens[i] and j - 1 != i
        ]
        masses += [map_[i, keys].sum()] if keys else []
    return float(np.mean(masses)) if masses else np.nan


def in_word(trace: Trace, site: AttentionSite, map_: np.ndarray) -> float:
    """The mean share on the other pieces of the query's word; NaN where no word is in pieces."""
    words = trace.read_by(site.stream).words
    masses = []
    for i in range(len(map_)):
        seen = range(len(map_) if site.stream == "encoder" else i + 1)
        keys = [j for j in seen if words[i] is not None and words[j] == words[i] and j != i]
        masses += [map_[i, keys].sum()] if keys else []
    return float(np.mean(masses)) if masses else np.nan


def induction(found: re.Match, trace: Trace, site: AttentionSite, map_: np.ndarray) -> bool:
    return near(found[1], repeated(trace, site, map_))


def same_word(found: re.Match, trace: Trace, site: AttentionSite, map_: np.ndarray) -> bool:
    return near(found[1], in_word(trace, site, map_))


def alone(_: re.Match, __: Trace, site: AttentionSite, map_: np.ndarray) -> bool:
    return bool(((map_ > 0).sum(axis=1) == 1).all())


def by_chance(_: re.Match, trace: Trace, site: AttentionSite, map_: np.ndarray) -> bool:
    return not beyond_chance(trace, site, map_).any()


def has_random_weights(_: re.Match, trace: Trace, __: AttentionSite, ___: np.ndarray) -> bool:
    return trace.model in ("own-encoder", "own-decoder", "own-encoder-decoder")


def beyond_chance(trace: Trace, site: AttentionSite, map_: np.ndarray) -> np.ndarray:
    """Mark the cells beyond the table of chance, which is looked up row by row."""
    width = trace.record_of(site.layer, site.stream, call=site.call).query.shape[-1] or 64
    shares = chance.SHARES[min((wide for wide in chance.SHARES if wide >= width), default=max(chance.SHARES))]
    beyond = np.zeros(map_.shape, np.bool_)
    for i, row in enumerate(map_):
        most = [share for keys, share in zip(chance.KEYS, shares, strict=True) if keys <= (row > 0).sum()]
        beyond[i] = row > (most[-1] if most else 1)
    return beyond


NAMED = r"(?P<tokens>(?:the first token, |every |the \d+\w\w )?`.*`(?: and other marks)?)"
PATTERNS = {
    LINK: link,
    rf"(?:is a previous-token head: )?{SHARE} {OF_NEIGHBOURS} goes one token back": diagonal(-1),
    rf"(?:is a next-token head: )?{SHARE} {OF_NEIGHBOURS} goes one token ahead": diagonal(1),
    rf"(?:looks at the token itself: )?{SHARE} {OF} stays (?:there|at the token itself)": diagonal(0),
    rf"rests on {NAMED}: (?P<share>{SHARE[1:-1]}) of (?P<of>{OF[4:-1]}) goes there": to_tokens,
    rf"(?:looks at punctuation: )?(?P<share>{SHARE[1:-1]}) of (?P<of>{OF[4:-1]}) goes to {NAMED}": to_tokens,
    r"spreads its attention broadly: about as evenly as over (\d+) of the (\d+) tokens": broad,
    rf"on average the largest weight of a token to write is {SHARE} of its attention, on (\d+) different source "
    "tokens": points,
    rf"is an induction head: where a token stands elsewhere too, {SHARE} of its attention goes to what followed it "
    "there": induction,
    rf"stays within the word: where a word is in pieces, each piece gives {SHARE} of its attention to the others, on "
    "average": same_word,
    r"has no choice: .*, so all of its attention stays there": alone,
    r"spreads its attention as random weights would: no token gets more than chance gives it": by_chance,
    r"has random weights, so what it looks at is chance": has_random_weights,
}


def shown(trace: Trace, site: AttentionSite, *, copy: bool = False) -> bool:
    """True where three tokens at least, of two names or words, come again (copy), or are pieces of one word."""
    text, causal = trace.read_by(site.stream), site.stream == "decoder"
    having = []
    for i, (name, word, known) in enumerate(zip(text.tokens, text.words, text.known, strict=True)):
        if word is None or (copy and not known):
            continue
        seen = range(i + 1 if causal else len(text.tokens))
        if copy:
            places = [
                j for j in seen if j and j - 1 != i and text.words[j - 1] is not None and text.tokens[j - 1] == name
            ]
        else:
            places = [j for j in seen if j != i and text.words[j] == word]
        having += [name if copy else word] if places else []
    return len(having) >= 3 and len(set(having)) >= 2


def first_is_alone(site: AttentionSite, map_: np.ndarray) -> bool:
    return site.stream == "decoder" and len(site.keys) > 1 and not map_[0, 1:].any()


def does(trace: Trace, site: AttentionSite, map_: np.ndarray) -> str:
    """Name a head by the thresholds of Clark et al. 2019 and their like; "" where nothing stands out."""
    chosen = map_[1:] if first_is_alone(site, map_) else map_
    first, count = len(map_) - len(chosen), len(site.keys)

    def to(*names: str) -> float:
        return chosen[:, [key in names for key in site.keys]].sum(axis=1).mean()

    def aside(offset: int) -> float:
        with_key = [i for i in range(first, count) if 0 <= i + offset < count]
        if site.stream == "cross" or not with_key:
            return 0.0
        return sum(map_[i, i + offset] for i in with_key) / len(with_key)

    logs = np.log(chosen, out=np.zeros_like(chosen), where=chosen > 0)
    entropy = -(chosen * logs).sum(axis=1).mean()
    copies = site.stream != "cross" and shown(trace, site, copy=True) and repeated(trace, site, map_) > 0.5
    holds = {
        "rest on the end": to("[SEP]", "</s>") > 0.6,
        "rest on the start": to("[CLS]", "<s>") > 0.6 and not copies,
        "rest on the first token": chosen[:, 0].mean() > 0.6 and not copies,
        "look one token back": aside(-1) > 0.5,
        "look one token ahead": aside(1) > 0.5,
        "look at the token itself": aside(0) > 0.5,
        "spread their attention broadly": entropy > 3.8 or entropy / np.log(count) > 0.8,
        "look at what followed the same token": copies,
        "stay within the word": site.stream != "cross" and shown(trace, site) and in_word(trace, site, map_) > 0.5,
    }
    return next((name for name, true in holds.items() if true), "")


def check_grid(sentence: str, trace: Trace, stream: str) -> None:
    """Assert that the counts of a sentence about all heads of a stream hold."""
    every = [
        (site, head.astype(np.float64))
        for site in trace.sites_of(stream)
        for head in trace.attention(layer=site.layer, stream=stream, call=site.call)
    ]
    site, map_ = every[0]
    if sentence == "This text is too short to show what a head does.":
        assert len(map_) - first_is_alone(site, map_) < 3
        return
    if sentence.startswith("Each token sees only one token"):
        assert len(site.keys) == 1
        return
    count = Counter(does(trace, *one) for one in every)
    if sentence.startswith("None of the"):
        assert sentence.startswith(f"None of the {len(every)} heads ")
        assert set(count) == {""}
        return
    if sentence.endswith("heads have random weights: what they look at is chance."):
        assert trace.model.startswith("own-")
        return
    if sentence.endswith(" as random weights would."):
        assert not any(beyond_chance(trace, *one).any() for one in every)
        return
    said, _, rest = sentence.removesuffix(".").partition("; ")
    assert (int(rest.split()[0]) if rest else 0) == count.pop("", 0)
    assert rest.endswith(("mixes several patterns", "mix several patterns", ""))
    parts = re.split(r", | and (?=\d)", said)
    assert re.search(r"\d+ of (\d+) heads", parts[0])[1] == str(len(every))
    told = {}
    for part in parts:
        number, what = re.fullmatch(r"(\d+)(?: of \d+ heads)? (.*)", part).groups()
        what = re.sub(r"^rests? on `(\[CLS\]|<s>)`", "rest on the start", what)
        what = re.sub(r"^rests? on `(\[SEP\]|</s>)`", "rest on the end", what)
        singular = {"rests": "rest", "looks": "look", "spreads its": "spread their", "stays": "stay"}
        for one, many in singular.items():
            what = re.sub(f"^{one} ", f"{many} ", what)
        told[what] = int(number)
    assert told == dict(count)
    assert list(told.values()) == sorted(told.values(), reverse=True)
