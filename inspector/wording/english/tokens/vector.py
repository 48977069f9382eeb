"""Sentences of the section A sentence as a vector."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.text import number
from inspector.wording.english.exactness import unknown_tokens
from inspector.wording.english.phrases import count_of, percent
from models import Card

VECTOR = "A sentence as a vector"
CANNOT = "is no encoder that begins a text with [CLS]"
READING, READING_INSTEAD = "Reading the sentences", "They are kept: change them, or choose another model."
SENTENCES, ENGLISH, CHINESE = "Sentences, one a line", "English", "Chinese"
SENTENCE, COSINE, COSINES_ALT = "sentence", "cosine", "cosine of each sentence with each, by [CLS] and by the mean"
KNOWS_CHINESE = "mini-BERT for Chinese knows 中文."
RANKS_HEADS = {"cls_rank": "rank by [CLS]", "mean_rank": "rank by the mean", "agreement": "cos([CLS], mean)"}
BESIDE_HEADS = {
    "cls_rank": "mean rank by [CLS]",
    "mean_rank": "mean rank by the mean",
    "agreement": "cos([CLS], mean)",
}
EACH, BESIDE = "Each sentence in numbers", "Beside other encoders"
OTHERS = "The same ranks in encoders that were trained for sentences, trained to guess words, and not trained."
AVERAGE, CHOOSE = "Is [CLS] a weighted average of the others?", "Sentence"
TAKES, TAKES_ALT = "What [CLS] takes", "what [CLS] takes from itself, other special tokens and the text, by layer"
MADE, MADE_ALT = (
    "What the state of [CLS] is made of",
    "lengths of what is its own and what others gave in the state of [CLS], by layer",
)
LAYER, WEIGHT, LENGTH = "layer", "weight, mean over heads", "length of the vector"
TAKEN = {"itself": "itself", "special": "other special tokens", "text": "the text"}
PARTS = {"own": "its own", "others": "from others"}
SHARE = "share from others"
POOLED = (
    r"$\cos(u, v) = u \cdot v \,/\, (\|u\| \|v\|)$ with u = $h_0$, the last hidden state of [CLS], or u = "
    r"$\frac{1}{T} \sum_i h_i$ over all T tokens, [CLS] and [SEP] included, as sentence-transformers pools. A few "
    "sentences are an example and no benchmark."
)
MIXED = (
    r"Left: weights of the query [CLS], mean over heads. Right: after each attention, before the norm, "
    r"$\sum_h \sum_{j>0} \alpha_{h,0j} f_h(x_j)$ from others, with $f_h(x) = v_h W_O^h$, and all else its own: "
    r"$x_0 + \sum_h \alpha_{h,00} f_h(x_0) + b_O$ (Kobayashi et al. 2021). [CLS] also began as an embedding of its "
    "own, and FFN and norms follow, which average nothing. The nearest average minimises "
    r"$\|h_0 - \sum_{j>0} w_j h_j\|$ over $w \geq 0$, $\sum w = 1$."
)
TERMS = ("[CLS]", "cosine")
_TRAINED = {
    "minilm": "on pairs of sentences, by the mean",
    "mini-bert": "to guess words",
    "mini-bert-zh": "to guess characters",
}
POOLINGS = {"cls": "[CLS]", "mean": "Mean of all tokens"}


@dataclass(frozen=True)
class Ranks:
    """The ranks of paraphrases under one pooling.

    mean: the mean rank, 1 at best; first: the number of sentences whose paraphrase ranks first. within: the mean cosine
    of paraphrases; apart: of other sentences, NaN for a single pair.
    """

    mean: float
    first: int
    apart: float
    within: float


def sentences_help(lines: int, characters: int) -> str:
    """Say what the field takes at most."""
    return (
        "Lines 0 and 1 say the same thing, 2 and 3, and so on: each is searched among all others. "
        f"{lines} lines and {characters} characters at most."
    )


def first_lines(lines: int, read: int) -> str:
    """Say that only the first lines are read."""
    return f"{lines} lines: the first {read} are read."


def too_long(tokens: int, most: int) -> str:
    """Refuse a long sentence."""
    return f"A sentence has {tokens} tokens, and {most} are read at most: shorten it."


def unknown(tokens: int, of: int) -> str:
    """Say how many tokens the model does not know."""
    return f"{unknown_tokens(tokens, of=of)} {KNOWS_CHINESE}"


def alone(*, agreement: float, model: str) -> str:
    """Say how alike the two vectors of a single sentence are."""
    return (
        f"[CLS] of {model} and the mean of its tokens are two sentence vectors, of cosine "
        f"{number(agreement)} here. Write a second sentence to compare."
    )


def pooled(*, cls: Ranks, mean: Ranks, sentences: int, model: str) -> str:
    """Say which pooling finds the paraphrases better; sentences: the number of sentences with a paraphrase."""
    if mean.mean == cls.mean:
        verdict = "[CLS] and the mean of all tokens are equally good sentence vectors here"
    else:
        better = "The mean of all tokens" if mean.mean < cls.mean else "[CLS]"
        verdict = f"{better} is the better sentence vector here"
    return (
        f"{verdict}. Among {count_of(sentences, 'sentence')} in {model}, a paraphrase comes at rank "
        f"{number(mean.mean)} by the mean, at {number(cls.mean)} by [CLS], on average."
    )


def numbers(*, cls: Ranks, mean: Ranks, sentences: int, chance: float, agreement: float) -> list[tuple[str, str, str]]:
    """List the mean ranks, what chance would give, and how alike the two vectors are: name, number, meaning."""
    rank = "Of each sentence's paraphrase among all others; 1 is best, and {} of {} have it."
    return [
        ("Mean rank by [CLS]", number(cls.mean), rank.format(cls.first, sentences)),
        ("Mean rank by the mean", number(mean.mean), rank.format(mean.first, sentences)),
        ("By chance", number(chance), "The mean of the ranks 1 to N − 1."),
        ("[CLS] with its own mean", number(agreement), "Cosine of both vectors of a sentence, on average."),
    ]


def apart(*, cls: Ranks, mean: Ranks) -> str:
    """Say how far paraphrases stand out of all other pairs, for both poolings."""
    if cls.apart != cls.apart:  # NaN: a single pair
        return ""
    return (
        f"By [CLS] paraphrases have a mean cosine of {number(cls.within)} and other pairs "
        f"{number(cls.apart)}; by the mean {number(mean.within)} and {number(mean.apart)}."
    )


def trained_for(card: Card) -> str:
    """Say in a few words what an encoder was trained for."""
    if not card.trained:
        return "not at all"
    return _TRAINED.get(_base(card.id), "see its card")


def training(model: str) -> str:
    """Say what the model was trained for, where that is known."""
    known = {
        "minilm": "MiniLM was trained on pairs of sentences, by the mean: its [CLS] was not asked to stand for them.",
        "mini-bert": "mini-BERT guesses words and never saw a pair: neither vector was trained for sentences.",
        "mini-bert-zh": "This model guesses characters and never saw a pair: neither vector was trained for sentences.",
    }
    return (
        f"{known.get(_base(model), '')} BERT trained its [CLS] to tell whether one sentence follows another (Devlin et "
        "al. 2019, section 3.1), not to sum one up: used as it is, it does worse than the mean, 29.2 against 54.8 in "
        "Spearman's ρ · 100 over seven tests of similarity; trained for them, [CLS] comes close to the mean (Reimers & "
        "Gurevych 2019, tables 1 and 6)."
    ).strip()


def _base(model: str) -> str:
    return model.partition("?")[0].removesuffix("-own")


def not_apart(reason: str) -> str:
    """Say why the share that [CLS] keeps of its state is not drawn."""
    return f"What is its own is not told apart: {reason}."


def mixture(
    *,
    itself: float,
    text: float,
    layer: int,
    most: float,
    own_share: float | None,
    miss: float,
    cosine: float,
    others: float,
) -> str:
    """Say whether the last state of [CLS] is a weighted average of the other tokens.

    itself: the weight of [CLS] on itself, mean over layers and heads; layer, most: the layer where that weight is
    largest, and the weight; text: the weight of [CLS] on the text. own_share: the part of its state after attention
    that comes from itself, None where unseen. miss, cosine: of the nearest weighted average of the other tokens' last
    states; others: the mean miss of the other tokens.
    """
    residual = (
        ""
        if own_share is None
        else f" After attention {percent(own_share)} of its state is its own, mean over layers: the residual stream "
        "carries it past."
    )
    return (
        f"**[CLS] is more than a weighted average of the others.** It gives {percent(itself)} of its attention "
        f"to itself, mean over layers (layer {layer}: {percent(most)}), and {percent(text)} to the "
        f"text.{residual} The weighted average of the other last states that comes nearest to its own still misses it "
        f"by {percent(miss)} of its length (zero would miss by 100 %; cosine {number(cosine)}); for the other "
        f"tokens the nearest average misses by {percent(others)}."
    )
