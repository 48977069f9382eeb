"""Sentences of the page What if."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspector.interventions.effects import HiddenGuesses, MovedHead, TokenPrediction, TurnedToken
from inspector.text import number, token
from inspector.wording.english.phrases import count_of, named, ordinal, percent
from models.formatting import layer_name

if TYPE_CHECKING:  # dropped heads come with torch
    from models.attention.dropping import ModelHead

HEADS_MOVED = "**Which heads moved**"
NONE_MOVED = "No head's attention changed: what was changed stands behind all of them."
IN_NUMBERS = "The heads that moved most, in numbers"
DIVERGENCE_HEAD = "divergence, nats"
DIVERGENCE_OF_MAPS, DIVERGENCE_OF_GUESSES = "Divergence, nats", "Divergence, bits"
MOVED_HEAD = "weight moved, share"
CALL_HEAD = "attention of the layer"
STATES_TURNED = "**How far each hidden state turned**"
DROPPED_HEAD = (
    r"A dropped head says nothing: its output $A V$, before $W_O$, is set to zero, $\xi_h = 0$ in "
    r"$\mathrm{MHAtt}(x) = \sum_h \xi_h \, \mathrm{Att}_h(x)$ (Michel et al. 2019, 2.3). Its own map is still "
    "computed; what comes after it changes."
)
DROP_GRID = "Rows are layers, columns heads. A click drops a head, another lets it speak again."
ONLY_OPEN = "Only the head that is open on the Attention page"
WHOLE_HELP = "Mask all pieces of a word: one gives away others."
SEVERAL_HELP = "A click adds to those hidden."
WHICH_HIDDEN = "Which token is hidden"
GUESSED_AGAIN = (
    "The token is hidden behind the model's mask token and the text is read again. A masked language model guesses "
    "what stood there from the words on both sides, as it was trained to (Devlin et al. 2019, 3.1)."
)
ALL_GUESSES = "All guesses, in numbers"
INDEPENDENT = "Several at once are guessed independently: the model does not know what it guessed in another gap."
MASK_THERE = "The text has the mask token there itself: no true token is known, and after is as before."
WHICH_REPLACED = "Which word is replaced"
ANOTHER_WORD = "Another word"
READ_AGAIN = (
    "The text is read again with the other word. Its pieces, however many, are one block, and all other tokens are "
    "matched one to one. A target that the model wrote or was given stays."
)
WHICH_GUESSED = "Which token is hidden, before and after, and guessed"
SAME_TARGET = "Both are read with the same target, so that the two predictions are of the same tokens."
SAME_WORD = "The word is the same, so nothing changes."
PREDICTED = "**What the model predicts**"
EVERY_POSITION = "The prediction at every position, in numbers"
POSITIONS_READ = (
    "First chosen is the position whose prediction changed most. "
    "before and after: $-\\log_2 p$ of the true token, in bits; divergence "
    r"$\mathrm{KL}(p \,\|\, p') = \sum p \log_2 (p / p')$, in bits."
)
WHICH_PREDICTED = "Which token is predicted; the small number is the position before it"
TEXT_ENDS = "The text ends here: the token asked about is the one that was likeliest before."
DIVERGENCE_ABOUT = "KL(p || p') = Σ p log2(p / p') over the whole vocabulary; 0 for the same prediction"
RANK_ABOUT = "Its place among the tokens of the vocabulary by probability; 1 is the model's first guess"
MASKED_ABOUT = "The true token's probability when it is masked"
SURPRISE_ABOUT = "-log2 of that probability: 1 bit is a coin's toss"
ALONE = "Each head alone"
MOVES = "How far the output moves"
SURPRISES = "How much more the true tokens surprise"
ALONE_GRID = "Rows are layers, columns heads. A click drops a head above; crossed out are those that are dropped."
ALONE_IN_NUMBERS = "Each head alone, in numbers"


def hidden(tokens: Sequence[str]) -> str:
    """Say which tokens are hidden, to begin a sentence with."""
    return f"Hiding {token(tokens[0])}" if len(tokens) == 1 else f"Hiding {len(tokens)} tokens"


def swapped(word: str, by: str) -> str:
    """Say which word is replaced, to begin a sentence with."""
    return f"Replacing {token(word)} with {token(by)}"


def dropped(heads: Sequence[ModelHead], *, several: bool) -> str:
    """Say which heads are dropped, to begin a sentence with; several: the model has more than one stream."""
    if len(heads) > 1:
        return f"Dropping {len(heads)} heads"
    (head,) = heads
    return f"Dropping {_head(head.stream, head.layer, head.call, head.head, several=several)}"


def guess(guessed: HiddenGuesses, *, model: str) -> str:
    """Say what a model guesses for a hidden token and where the true token ranks, as a whole sentence."""
    likeliest = f"{token(guessed.first[0])} ({percent(guessed.first[1])})"
    if guessed.hidden > 1:
        return f"{model}'s first guess is right for {guessed.right or 'none'} of the {guessed.hidden} hidden tokens."
    if guessed.token is None:
        return f"For the mask token in the text {model} first guesses {likeliest}; no true token is known."
    if guessed.rank == 1:
        return (
            f"{model} first guesses {token(guessed.token)} ({percent(guessed.probability)}), which is the hidden token."
        )
    return (
        f"For the hidden {token(guessed.token)}, {model} first guesses {likeliest}; the hidden token "
        f"itself comes {ordinal(guessed.rank)}, with {percent(guessed.probability)}."
    )


def change(
    begin: str, predicted: TokenPrediction | None, turned: TurnedToken | None, moved: MovedHead | None, *, several: bool
) -> str:
    """Say what a change did, as a whole sentence.

    begin: the clause of `swapped`, `dropped` or `hidden`. predicted: None for a model that predicts nothing, where the
    hidden states are told instead. several: the model has more than one stream.
    """
    if predicted is not None and predicted.before != predicted.after:
        which = token(predicted.token) + ("" if predicted.true else ", the likeliest before,")
        before, after = number(predicted.before), number(predicted.after)
        verb = "raises" if predicted.after > predicted.before else "lowers"
        if before == after:
            did = f"hardly changes the probability of {which.removesuffix(',')} ({before})"
        else:
            did = f"{verb} the probability of {which} from {before} to {after}"
    elif turned is not None:
        most = "most among the other tokens" if turned.others else "most"
        did = f"turns the last hidden state of {named(turned.token)} {most} (1 − cosine {number(turned.turned)})"
    elif moved is not None:
        predicts = predicted is not None
        did = "does not change the prediction" if predicts else "changes no other token's last hidden state"
    else:
        return f"{begin} changes nothing."
    most = "" if moved is None else f"; {_changes(moved, several=several)}"
    return f"{begin} {did}{most}."


def most_moved(moved: MovedHead, *, several: bool) -> str:
    """Say which head moved most, as a whole sentence."""
    clause = _changes(moved, several=several)
    return f"{clause[0].upper()}{clause[1:]}."


def too_long(*, keys: int, most: int) -> str:
    """Say that a text has too many keys for whole maps."""
    return (
        f"The text has {keys:,} keys, and maps before and after are compared whole, up to "
        f"{most}. Choose a shorter text to see them."
    )


def heads_read(*, largest: float) -> str:
    """Say how the grid of moved heads is read."""
    return f"The small maps are |after − before| of each head, from 0 to {number(largest)}, on a square-root scale."


def maps_read(*, largest: float, top: float, alone: bool) -> str:
    """Say how the three maps are read; alone: no row is pinned."""
    return (
        rf"$A' - A$, weight after minus before, no unit, at most {number(largest)}: indigo where the head "
        f"looks more now, amber where less. Before and after share one scale, from 0 to {number(top)}. "
        f"Row = query, column = key{'.' if alone else '; the row of the changed token is pinned.'}"
    )


def which_heads(*, about: bool) -> str:
    """Say which heads the table lists; about: the table is about the changed token."""
    return "whose row of the changed token differs most (of several: the mean)" if about else "that differ most"


def listed_heads(*, which: str) -> str:
    """Say which heads the table lists, and in which order."""
    return f"The heads {which}, by Jensen-Shannon divergence (Lin 1991)."


def states_read(*, mean: float) -> str:
    """Say how the turns of the hidden states are read."""
    return (
        "1 − the cosine of each token's last hidden state before and after: 0 where both point the same way, 1 at a "
        f"right angle. No unit; the mean is {number(mean)}."
    )


def divergence_about(*, over: str) -> str:
    """Say what the divergence measures; over: the rows."""
    return f"Jensen-Shannon divergence of {over}, before and after (Lin 1991); 0 to ln 2 = 0.693"


def moved_about(*, over: str) -> str:
    """Say what the moved weight measures; over: the rows."""
    return f"The share of the weight that lies on other keys now, 1/2 Σ |A' − A| of {over}"


def writes_on(*, model: str) -> str:
    """Say what hiding means to a model that fills no gaps."""
    return (
        f"{model} writes from left to right and fills no gaps. What a token hidden "
        "behind its mask token does to what it predicts is seen here; whether it ever met that token in training, its "
        "files do not say."
    )


def first_drawn(*, shown: int, of: int) -> str:
    """Say how many gaps are drawn."""
    return f"The first {shown} of {of} are drawn; all are in the table below."


def guesses_read(*, vocabulary: int, position: int, together: float) -> str:
    """Say how the guesses for one position are read."""
    return (
        rf"$p = \mathrm{{softmax}}(z)$ over the {vocabulary:,} tokens of the vocabulary, $z$ the logits of the "
        f"last hidden state; no unit. At position {position} the five likeliest have "
        f"{number(together)} of the probability together. "
        "The text's own token is solid and named *true*."
    )


def no_tokens(*, model: str) -> str:
    """Say that a model predicts nothing."""
    return f"{model} predicts no tokens: its maps and hidden states change."


def predictions_read(*, vocabulary: int, position: int, whose: str) -> str:
    """Say how the predictions are read; whose: the sentence on the true token."""
    return (
        rf"$p = \mathrm{{softmax}}(z)$ over the {vocabulary:,} tokens of the vocabulary, $z$ the logits "
        f"of the last hidden state at position {position}; no unit. Drawn are the five likeliest before and the "
        f"five likeliest after. {whose}"
    )


def predicted(name: str, position: int) -> str:
    """The button on the token whose prediction is shown, with the position before it."""
    return f"Predicted: {token(name)} :small[{position}]"


def guessed(name: str, position: int) -> str:
    """The button on the token that is hidden and guessed, with its position."""
    return f"Guessed: {token(name)} :small[{position}]"


def true_token(*, fills_masks: bool) -> str:
    """Say which token is named true."""
    return f"The token that {'stands' if fills_masks else 'comes next'} there is named *true*."


def rank_about(*, whose: str, vocabulary: int) -> str:
    """Say what the two ranks are."""
    return f"Rank of the {whose} among {vocabulary:,} tokens, before and after; 1 is the model's first guess"


def probability_about(*, whose: str) -> str:
    """Say what the two probabilities are."""
    return f"Probability of the {whose}, before and after"


def surprise_about(*, whose: str) -> str:
    """Say what the surprise measures."""
    return f"log2(p / p') of the {whose}"


def surprise(bits_more: float) -> str:
    """Say by how much the surprise changes: "falls by 0.225 bits"."""
    return f"{'rises' if bits_more > 0 else 'falls'} by {number(abs(bits_more))} bits" if bits_more else "stays"


def seen_about(*, rank: int) -> str:
    """Say what the probability of a token means that the model sees."""
    return f"The true token's probability when it is not masked; rank {rank:,}"


def alone_about(*, heads: int) -> str:
    """Say what is measured of each head."""
    return (
        f"Which heads does this text need? Each of {count_of(heads, 'head')} is dropped alone, the model "
        "run again, and the output compared with that of all heads (Michel et al. 2019, 3.2)."
    )


def too_many_heads(*, most: int) -> str:
    """Say that a model has too many heads to run without each."""
    return (
        f"That is a run of the model for each head, and this page makes up to {most}. From Python there is no "
        "limit: inspector.importance.measure(loaded, text)."
    )


def drop_each(*, heads: int, begun: bool) -> str:
    """Name the button that begins or goes on."""
    return "Go on" if begun else f"Drop each of {count_of(heads, 'head')} alone"


def of_heads(*, done: int, of: int) -> str:
    """Say how many heads are done."""
    return f"{done} of {count_of(of, 'head')}"


def moved_read(*, most: str) -> str:
    """Say how the moves are read."""
    return (
        r"$1 - \cos(h, h')$ of the last hidden states, mean over the tokens, "
        f"from 0 to {most}; no unit."
    )


def surprise_read(*, most: str) -> str:
    """Say how the surprise is read."""
    return (
        r"$\log_2 (p / p')$ of the true tokens, mean over them, in bits, from "
        f"−{most} (amber: better without the head) to +{most} (indigo: the text needs it)."
    )


def measured_so_far(*, done: int, of: int) -> str:
    """Say how many heads were measured."""
    return f"Measured: {done} of {count_of(of, 'head')}; the others are blank."


def read_before(*, second: str | None, text: str, alone: bool) -> str:
    """Name the text before the swap, with its pair."""
    return f"Before: {text}" + ("" if alone else f" / {second}")


def read_after(*, text: str, pair: str | None) -> str:
    """Name the text after the swap, with its pair."""
    return f"After: {text}" + ("" if pair is None else f" / {pair}")


def _changes(moved: MovedHead, *, several: bool) -> str:
    """Say which head changes most: "the hidden token's attention changes most in layer 1, head 7"."""
    stream = f"in the {_stream(moved.stream)} " if several else ""
    head = f"{layer_name(moved.layer, moved.call)}, head {moved.head}"
    if moved.hidden:
        whose = "token's" if moved.hidden == 1 else "tokens'"
        return f"{stream}the hidden {whose} attention changes most in {head}"
    return f"{stream}the attention of {head} changes most"


def _head(stream: str, layer: int, call: int, head: int, *, several: bool) -> str:
    return f"{layer_name(layer, call)}, head {head}{f' of the {_stream(stream)}' if several else ''}"


def _stream(name: str) -> str:
    return "cross-attention" if name == "cross" else name
