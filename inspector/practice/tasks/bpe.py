"""Task 10: one merge of byte-pair encoding (Sennrich et al. 2016)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from inspector.practice.record.task import Case, Mistake, Task
from inspector.practice.tasks.stages import way
from inspector.questions.record.both import Both

Word = tuple[str, ...]
Words = Mapping[Word, int]
Pair = tuple[str, str]


def _counted(words: Words) -> dict[Pair, float]:
    counts: dict[Pair, float] = {}
    for word, times in words.items():
        for pair in pairwise(word):
            counts[pair] = counts.get(pair, 0) + times
    return counts


def _best(counts: Mapping[Pair, float]) -> Pair:
    most = max(counts.values())
    return min(pair for pair, count in counts.items() if count == most)


def _replaced(word: Word, pair: Pair) -> Word:
    merged: list[str] = []
    at = 0
    while at < len(word):
        if word[at : at + 2] == pair:
            merged.append(word[at] + word[at + 1])
            at += 2
        else:
            merged.append(word[at])
            at += 1
    return tuple(merged)


def _gathered(pairs: Iterable[tuple[Any, int]], words: Words) -> dict[Any, int]:
    gathered: dict[Any, int] = {}
    for word, times in pairs:
        gathered[word] = gathered.get(word, 0) + times
    return gathered


def computed(
    words: Words,
    *,
    count: Callable[[Words], Mapping[Pair, float]] = _counted,
    best: Callable[[Mapping[Pair, float]], Pair] = _best,
    replace: Callable[[Word, Pair], Any] = _replaced,
    gather: Callable[[Iterable[tuple[Any, int]], Words], Any] = _gathered,
    end: Callable[[Pair, Any], Any] = lambda pair, merged: (pair, merged),
    whole: Callable[[Words], Any] | None = None,
) -> Any:
    """Return the most frequent pair, and the words with all its occurrences merged.

    whole: computes both from the words, where more than one merge is made.
    """
    if whole is not None:
        return whole(words)
    pair = best(count(words))
    return end(pair, gather([(replace(word, pair), times) for word, times in words.items()], words))


# --- counting ---


def _each_word_once(words: Words) -> dict[Pair, float]:
    return _counted(dict.fromkeys(words, 1))


def _a_pair_once_a_word(words: Words) -> dict[Pair, float]:
    counts: Counter[Pair] = Counter()
    for word, times in words.items():
        for pair in dict.fromkeys(pairwise(word)):
            counts[pair] += times
    return dict(counts)


def _overwritten(words: Words) -> dict[Pair, float]:
    return {pair: times for word, times in words.items() for pair in pairwise(word)}


def _without_overlap(words: Words) -> dict[Pair, float]:
    counts: dict[Pair, float] = {}
    for word, times in words.items():
        last: tuple[Pair, int] | None = None
        for at, pair in enumerate(pairwise(word)):
            if last is not None and last == (pair, at - 1):
                last = None
                continue
            last = (pair, at)
            counts[pair] = counts.get(pair, 0) + times
    return counts


def _without_last(words: Words) -> dict[Pair, float]:
    counts = dict.fromkeys(_counted(words), 0.0)
    for word, times in words.items():
        for at in range(len(word) - 2):
            counts[word[at], word[at + 1]] += times
    return counts


def _without_first(words: Words) -> dict[Pair, float]:
    counts = dict.fromkeys(_counted(words), 0.0)
    for word, times in words.items():
        for at in range(1, len(word) - 1):
            counts[word[at], word[at + 1]] += times
    return counts


def _disjoint(words: Words) -> dict[Pair, float]:
    """Count every second pair: symbols 0 and 1, 2 and 3, ..."""
    counts = dict.fromkeys(_counted(words), 0.0)
    for word, times in words.items():
        for at in range(0, len(word) - 1, 2):
            counts[word[at], word[at + 1]] += times
    return counts


def _over_borders(words: Words) -> dict[Pair, float]:
    """Count the pairs of all words written one after the other, each as often as it occurs."""
    line = [symbol for word, times in words.items() for _ in range(times) for symbol in word]
    return dict(Counter(pairwise(line)))


def _over_borders_once(words: Words) -> dict[Pair, float]:
    line = [symbol for word in words for symbol in word]
    return dict(Counter(pairwise(line)))


def _border(own: bool) -> Callable[[Words], Mapping[Pair, float]]:
    """Count the pairs over the border of two words as often as the second word, or the first, occurs."""

    def count(words: Words) -> dict[Pair, float]:
        counts = _counted(words)
        for (before, times_before), (after, times_after) in pairwise(words.items()):
            pair = (before[-1], after[0])
            counts[pair] = counts.get(pair, 0) + (times_after if own else times_before)
        return counts

    return count


def _sorted(words: Words) -> dict[Pair, float]:
    """Count a pair and its reverse under the pair in order."""
    counts: dict[Pair, float] = {}
    for (a, b), count in _counted(words).items():
        pair = (min(a, b), max(a, b))
        counts[pair] = counts.get(pair, 0) + count
    return counts


def _symbols(words: Words) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word, times in words.items():
        for symbol in word:
            counts[symbol] += times
    return counts


def _word_piece(words: Words) -> dict[Pair, float]:
    symbols = _symbols(words)
    return {pair: count / (symbols[pair[0]] * symbols[pair[1]]) for pair, count in _counted(words).items()}


def _by_length(words: Words) -> dict[Pair, float]:
    return {pair: count * len("".join(pair)) for pair, count in _counted(words).items()}


def _frequent_symbols(words: Words) -> dict[Pair, float]:
    symbols = _symbols(words)
    return {pair: symbols[pair[0]] + symbols[pair[1]] for pair in _counted(words)}


def _unordered(words: Words) -> dict[Pair, float]:
    counts = _counted(words)
    return {(a, b): count + (counts.get((b, a), 0) if a != b else 0) for (a, b), count in counts.items()}


def _any_two(words: Words) -> dict[Pair, float]:
    """Count pairs of symbols that stand in a word, adjacent or not."""
    counts: dict[Pair, float] = {}
    for word, times in words.items():
        for at, first in enumerate(word):
            for second in word[at + 1 :]:
                counts[first, second] = counts.get((first, second), 0) + times
    return counts


def _of_frequent_word(words: Words) -> dict[Pair, float]:
    longest = max(words, key=lambda word: (words[word], len(word) > 1))
    return _counted({longest: 1}) or _counted(words)


# --- choosing ---


def _key(choose: Callable[[Mapping[Pair, float]], Pair]) -> Mapping[str, Any]:
    return way(best=choose)


def _first_seen(counts: Mapping[Pair, float]) -> Pair:
    return max(counts, key=lambda pair: counts[pair])


def _last_seen(counts: Mapping[Pair, float]) -> Pair:
    return max(reversed(list(counts)), key=lambda pair: counts[pair])


def _largest(counts: Mapping[Pair, float]) -> Pair:
    return max(counts, key=lambda pair: (counts[pair], pair))


def _joined(counts: Mapping[Pair, float]) -> Pair:
    return min(counts, key=lambda pair: (-counts[pair], "".join(pair)))


def _shortest(counts: Mapping[Pair, float]) -> Pair:
    return min(counts, key=lambda pair: (-counts[pair], len("".join(pair)), pair))


def _longest(counts: Mapping[Pair, float]) -> Pair:
    return min(counts, key=lambda pair: (-counts[pair], -len("".join(pair)), pair))


def _second_first(counts: Mapping[Pair, float]) -> Pair:
    return min(counts, key=lambda pair: (-counts[pair], pair[::-1]))


# --- merging ---


def _only_first(word: Word, pair: Pair) -> Word:
    for at in range(len(word) - 1):
        if word[at : at + 2] == pair:
            return (*word[:at], "".join(pair), *word[at + 2 :])
    return word


def _only_last(word: Word, pair: Pair) -> Word:
    for at in reversed(range(len(word) - 1)):
        if word[at : at + 2] == pair:
            return (*word[:at], "".join(pair), *word[at + 2 :])
    return word


def _from_the_right(word: Word, pair: Pair) -> Word:
    turned = _replaced(word[::-1], pair[::-1])
    return tuple("".join(pair) if symbol == pair[1] + pair[0] else symbol for symbol in turned[::-1])


def _overlapping(word: Word, pair: Pair) -> Word:
    """Keep the second symbol of a merged pair: the place moves on by 1."""
    merged = []
    for at, symbol in enumerate(word):
        merged.append("".join(pair) if word[at : at + 2] == pair else symbol)
    return tuple(merged)


def _overlap_joined(word: Word, pair: Pair) -> Word:
    merged, at = [], 0
    while at < len(word):
        if word[at : at + 2] == pair:
            merged.append("".join(pair))
            at += 1 if word[at + 1 : at + 3] == pair else 2
        else:
            merged.append(word[at])
            at += 1
    return tuple(merged)


def _run_on(word: Word, pair: Pair) -> Word:
    """Join a symbol to the one before it wherever both are the pair in the old word."""
    merged = [word[0]]
    for before, symbol in pairwise(word):
        if (before, symbol) == pair:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return tuple(merged)


def _merges(rounds: int, least: int = 1, *, first: bool = True) -> Callable[[Words], Any]:
    """Make several merges, as long as a pair is there `least` times; give the first pair, or the last."""

    def whole(words: Words) -> Any:
        pairs = []
        for _ in range(rounds):
            counts = _counted(words)
            if not counts or max(counts.values()) < least:
                break
            pairs.append(_best(counts))
            words = _gathered([(_replaced(word, pairs[-1]), times) for word, times in words.items()], words)
        return pairs[0 if first else -1], words

    return whole


def _as_text(word: Word, pair: Pair) -> Word:
    """Replace in the word as a string with spaces, which cuts symbols apart."""
    return tuple(" ".join(word).replace(" ".join(pair), "".join(pair)).split(" "))


def _without_spaces(word: Word, pair: Pair) -> Word:
    text, merged = "".join(word), "".join(pair)
    parts: list[str] = []
    at = 0
    while at < len(text):
        parts.append(merged if text.startswith(merged, at) else text[at])
        at += len(parts[-1])
    return tuple(parts)


def _at_start(word: Word, pair: Pair) -> Word:
    return ("".join(pair), *word[2:]) if word[:2] == pair else word


def _at_end(word: Word, pair: Pair) -> Word:
    return (*word[:-2], "".join(pair)) if word[-2:] == pair else word


def _both_orders(word: Word, pair: Pair) -> Word:
    merged, at = [], 0
    while at < len(word):
        if word[at : at + 2] in (pair, pair[::-1]):
            merged.append("".join(word[at : at + 2]))
            at += 2
        else:
            merged.append(word[at])
            at += 1
    return tuple(merged)


def _without_tail(word: Word, pair: Pair) -> Word:
    """Lose the last symbol where it belongs to no merged pair."""
    merged, at = [], 0
    while at < len(word) - 1:
        if word[at : at + 2] == pair:
            merged.append("".join(pair))
            at += 2
        else:
            merged.append(word[at])
            at += 1
    return tuple(merged)


def _lost(word: Word, pair: Pair) -> Word:
    """Drop the merged symbol's second half."""
    merged, at = [], 0
    while at < len(word):
        merged.append(word[at])
        at += 2 if word[at : at + 2] == pair else 1
    return tuple(merged)


def _removed(word: Word, pair: Pair) -> Word:
    merged, at = [], 0
    while at < len(word):
        if word[at : at + 2] == pair:
            at += 2
        else:
            merged.append(word[at])
            at += 1
    return tuple(merged)


def _turned(word: Word, pair: Pair) -> Word:
    joined = "".join(pair)
    return tuple(pair[1] + pair[0] if symbol == joined else symbol for symbol in _replaced(word, pair))


def _nested(word: Word, pair: Pair) -> Any:
    merged: list[Any] = []
    at = 0
    while at < len(word):
        if word[at : at + 2] == pair:
            merged.append(pair)
            at += 2
        else:
            merged.append(word[at])
            at += 1
    return tuple(merged)


def _spaced(joint: str) -> Callable[[Word, Pair], Word]:
    def replace(word: Word, pair: Pair) -> Word:
        merged = "".join(pair)
        return tuple(joint.join(pair) if symbol == merged else symbol for symbol in _replaced(word, pair))

    return replace


def _missing_last(word: Word, pair: Pair) -> Word:
    """Never look at the last pair of a word."""
    if len(word) < 2:
        return word
    done = _replaced(word[:-1], pair)
    return (*done, word[-1])


# --- gathering ---


def _kept_last(pairs: Iterable[tuple[Any, int]], words: Words) -> dict[Any, int]:
    return dict(pairs)


def _kept_first(pairs: Iterable[tuple[Any, int]], words: Words) -> dict[Any, int]:
    kept: dict[Any, int] = {}
    for word, times in pairs:
        kept.setdefault(word, times)
    return kept


def _only_changed(pairs: Iterable[tuple[Any, int]], words: Words) -> dict[Any, int]:
    return _gathered([(new, times) for (new, times), old in zip(pairs, words, strict=True) if new != old], words)


def _old_too(pairs: Iterable[tuple[Any, int]], words: Words) -> dict[Any, int]:
    return {**words, **_gathered(pairs, words)}


MISTAKES = (
    Mistake("a word counts once, however often it occurs: its count is not added", (way(count=_each_word_once),)),
    Mistake("a pair counts once a word, even where the word has it twice", (way(count=_a_pair_once_a_word),)),
    Mistake("the count of a pair is overwritten by the next word, not added", (way(count=_overwritten),)),
    Mistake("pairs that overlap (a a a) are counted once", (way(count=_without_overlap),)),
    Mistake("the last pair of each word is not counted", (way(count=_without_last),)),
    Mistake("the first pair of each word is not counted", (way(count=_without_first),)),
    Mistake("only every second pair is counted (steps of 2)", (way(count=_disjoint),)),
    Mistake(
        "pairs over the border of two words are counted too",
        (
            way(count=_over_borders),
            way(count=_over_borders_once),
            way(count=_border(own=True)),
            way(count=_border(own=False)),
        ),
    ),
    Mistake("the count is divided by the counts of both symbols (WordPiece's score)", (way(count=_word_piece),)),
    Mistake("the count is weighed with the pair's length", (way(count=_by_length),)),
    Mistake(
        "the pair of the most frequent symbols is taken, not the most frequent pair", (way(count=_frequent_symbols),)
    ),
    Mistake(
        "a pair and its reverse count as one",
        (
            way(count=_unordered),
            way(count=_sorted),
            way(count=_sorted, replace=_both_orders),
        ),
    ),
    Mistake("symbols that are not adjacent are counted as pairs", (way(count=_any_two),)),
    Mistake("only the most frequent word is looked at", (way(count=_of_frequent_word),)),
    Mistake("of equal pairs the one seen first is taken, not the smallest", (_key(_first_seen),)),
    Mistake("of equal pairs the one seen last is taken, not the smallest", (_key(_last_seen),)),
    Mistake("of equal pairs the largest is taken, not the smallest", (_key(_largest),)),
    Mistake("of equal pairs the one that is smallest as a joined string is taken, not as a tuple", (_key(_joined),)),
    Mistake("of equal pairs the one that is smallest by its second symbol is taken", (_key(_second_first),)),
    Mistake("of equal pairs the shorter or longer is taken", (_key(_shortest), _key(_longest))),
    Mistake(
        "the rarest pair is taken",
        (
            _key(lambda counts: min(counts, key=lambda pair: (counts[pair], pair))),
            _key(lambda counts: min(counts, key=lambda pair: counts[pair])),
        ),
    ),
    Mistake("the smallest pair is taken, whatever its count is", (_key(min),)),
    Mistake("the largest pair is taken, whatever its count is", (_key(max),)),
    Mistake("the pair that is seen first is taken, whatever its count is", (_key(lambda counts: next(iter(counts))),)),
    Mistake("only the first occurrence in a word is merged", (way(replace=_only_first),)),
    Mistake("only the last occurrence in a word is merged", (way(replace=_only_last),)),
    Mistake("occurrences are merged from the right, not from the left", (way(replace=_from_the_right),)),
    Mistake(
        "the place moves on by 1 after a merge, so that the pair's second symbol stays", (way(replace=_overlapping),)
    ),
    Mistake(
        "a symbol is joined to what was merged just now: a a a becomes one symbol",
        (way(replace=_run_on),),
    ),
    Mistake(
        "more than one merge is made",
        tuple(
            way(whole=_merges(rounds, least, first=first))
            for first in (True, False)
            for rounds, least in ((2, 1), (1000, 1), (1000, 2))
        ),
    ),
    Mistake("overlapping occurrences are merged twice", (way(replace=_overlap_joined),)),
    Mistake(
        "the pair is replaced in the word as a text, where it also fits the ends of longer symbols",
        (way(replace=_as_text),),
    ),
    Mistake("the symbols are joined and cut anew: earlier merges are lost", (way(replace=_without_spaces),)),
    Mistake("the pair is merged only at the beginning of a word", (way(replace=_at_start),)),
    Mistake("the pair is merged only at the end of a word", (way(replace=_at_end),)),
    Mistake("the reversed pair is merged too", (way(replace=_both_orders),)),
    Mistake(
        "the last symbol of a word is lost",
        (way(replace=_without_tail), way(replace=lambda word, pair: _replaced(word, pair)[:-1])),
    ),
    Mistake("the last pair of a word is never merged", (way(replace=_missing_last),)),
    Mistake("the pair's second symbol is lost where it is merged", (way(replace=_lost),)),
    Mistake("the pair is removed, not merged", (way(replace=_removed),)),
    Mistake("the merged symbol has its parts in the wrong order", (way(replace=_turned),)),
    Mistake("the merged symbol is a tuple, not a string", (way(replace=_nested),)),
    Mistake(
        "the merged symbol has a sign between its parts",
        tuple(way(replace=_spaced(joint)) for joint in (" ", "_", "##", "-", "+")),
    ),
    Mistake("nothing is merged: the words come back as they were", (way(replace=lambda word, pair: word),)),
    Mistake(
        "merged words that become equal overwrite each other: their counts should be added",
        (way(gather=_kept_last), way(gather=_kept_first)),
    ),
    Mistake("words without the pair are lost", (way(gather=_only_changed),)),
    Mistake("the old words stay beside the merged ones", (way(gather=_old_too),)),
    Mistake(
        "the counts are lost: every word counts 1",
        (
            way(gather=lambda pairs, words: {word: 1 for word, _ in pairs}),
            way(gather=lambda pairs, words: {word: sum(1 for other, _ in pairs if other == word) for word, _ in pairs}),
        ),
    ),
    Mistake(
        "the words are a list, not a dict",
        (
            way(gather=lambda pairs, words: [word for word, _ in pairs]),
            way(gather=lambda pairs, words: list(pairs)),
            way(gather=lambda pairs, words: list(_gathered(pairs, words).items())),
        ),
    ),
    Mistake(
        "words are strings, not tuples of symbols",
        (
            way(gather=lambda pairs, words: {"".join(word): times for word, times in pairs}),
            way(gather=lambda pairs, words: {" ".join(word): times for word, times in pairs}),
        ),
    ),
    Mistake("only the words are returned, not the pair", (way(end=lambda pair, merged: merged),)),
    Mistake("only the pair is returned, not the words", (way(end=lambda pair, merged: pair),)),
    Mistake("words and pair are returned in the wrong order", (way(end=lambda pair, merged: (merged, pair)),)),
    Mistake(
        "the pair is returned as one string",
        (
            way(end=lambda pair, merged: ("".join(pair), merged)),
            way(end=lambda pair, merged: (" ".join(pair), merged)),
        ),
    ),
    Mistake("the pair is returned in reverse order", (way(end=lambda pair, merged: (pair[::-1], merged)),)),
    Mistake(
        "the pair is returned with its count", (way(count=_counted, end=lambda pair, merged: ((pair, 0), merged)),)
    ),
)


def made() -> tuple[Case, ...]:
    """Make words in which mistakes part: equal counts, overlaps, longer symbols, words that become equal."""

    def words(*counted: tuple[str, int]) -> tuple[dict[Word, int]]:
        return ({tuple(word.split()): times for word, times in counted},)

    return (
        Case("five words", words(("l o w", 5), ("l o w e r", 2), ("n e w", 6), ("w i d e", 3), ("low", 1))),
        Case("a pair that overlaps with itself", words(("a a a b", 4), ("b a a", 2), ("c b c b", 3), ("a b a b a", 1))),
        Case("a pair that is most frequent only by its overlaps", words(("a a a a", 2), ("b c", 6), ("a a a", 1))),
        Case("equal counts, found largest first", words(("z y q", 3), ("c d", 3), ("m n", 3), ("b x", 2), ("d c", 3))),
        Case("equal counts, found smallest last", words(("x y", 2), ("c e", 2), ("b zz", 2), ("bb a", 2), ("g h", 1))),
        Case("equal counts, the longer symbol larger", words(("cc d", 2), ("a b", 2), ("a d", 1))),
        Case("words that become equal", words(("t h e", 4), ("th e", 3), ("t h a t", 5), ("a t", 1), ("at", 2))),
        Case(
            "symbols that end like the pair", words(("a b", 9), ("xa b", 4), ("a bc", 3), ("ab c", 2), ("b a b a", 2))
        ),
        Case("a pair twice in a word", words(("o n o n o", 2), ("e r", 3), ("e d", 1), ("n i c e", 2))),
        Case(
            "many short words, one frequent", words(("p q", 10), ("r s t", 4), ("u s t", 4), ("s t", 4), ("s t r", 1))
        ),
        Case(
            "a pair and its reverse", words(("i j", 3), ("j i", 3), ("j i k", 1), ("k l", 5), ("l m", 5), ("m k l", 1))
        ),
        Case(
            "pairs inside and at both ends", words(("k a n s", 3), ("s a n", 2), ("a n d", 2), ("s k", 4), ("n d", 3))
        ),
        Case("symbols that meet only at a distance", words(("a x b", 3), ("a y b", 3), ("c d", 5))),
        Case("a long symbol in a rarer pair", words(("the y", 3), ("c d", 4), ("the m", 1))),
    )


def recorded() -> tuple[Case, ...]:
    """Give the words of a sentence as letters, with a mark of the word's end as Sennrich et al. (2016) set it."""
    text = "the cat sat on the mat because the cat that sat on that mat was fat and the banana stand sat at the bank"
    words = Counter((*word, "</w>") for word in text.split())
    return (Case("the words of a sentence, with </w> at their ends", (dict(words),)),)


TASK = Task(
    10,
    "bpe",
    "writing",
    "merge",
    ("words",),
    title=Both("A BPE merge", "一次 BPE 合并"),
    asked=Both(
        "words is a dict from a tuple of symbols to the count of that word. Return a tuple: the most frequent "
        "adjacent pair (of "
        "equal ones the smallest as a tuple), and the words with all its occurrences merged from the left. Words "
        "that become equal "
        "add their counts.",
        "words 是字典：符号元组 → 该词的出现次数。返回元组：最常见的相邻符号对（次数相同时取按元组比较最小者），以"
        "及从左到右合并其所有出现之后的词典。合并后相同的词，次数相加。",
    ),
    hints=(
        Both(
            "count(a, b) = the sum over words of the word's count times how often a b stands in it (Sennrich et "
            "al. 2016).",
            "count(a, b) = 对所有词求和：词的次数 × a b 在词中出现的次数（Sennrich 等人，2016）。",
        ),
        Both(
            "{(a, a, a): 1, (b, a): 1}: the pair (a, a) counts 2, (b, a) 1. The merged words are (aa, a) and (b, a).",
            "{(a, a, a): 1, (b, a): 1}：(a, a) 计 2 次，(b, a) 计 1 次。合并后为 (aa, a) 与 (b, a)。",
        ),
        Both(
            "Go on by two places after a merge, by one otherwise. Compare symbols, not letters: a b is not the end "
            "of xa b. Two words "
            "can become one.",
            "合并后前进两格，否则前进一格。比较的是符号而不是字母：xa b 的结尾不是 a b。两个词可能变成同一个。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("pair", "words"),
)
