"""Experiments that are ready to be taken: each asks one question, and says what three seeds answered."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.training.tiny.experiments import Experiment, Switches

PAPER = Switches()


@dataclass(frozen=True)
class Preset:
    """An experiment, its question, and its answer: shares are means over seeds 0, 1 and 2 on one core."""

    topic: str
    name: str
    question: str
    measured: str
    experiment: Experiment


_REPEATS = Switches(positions="rope", norm_placement="pre")
_BAHDANAU = Switches(network="rnn with attention")
_ONE_VECTOR = Switches(network="rnn")
RECURRENCE = (
    Preset(
        "Recurrence",
        "RNN with attention or without",
        "Before attention a decoder was given one vector of the whole text. Is that enough to turn 8 digits around?",
        "No: with attention 99% of the texts are right after 300 steps, half of them after 120 to 130; without it 30%"
        " of the texts (27% to 34%) and 69% of the digits. The vector knows best what was read last: the first digit "
        "of the answer, the last of the text, is right in 96% of the texts, the 6th in 54%. It is not that 8 digits "
        "have no room in 48 numbers: with 1500 steps 92% of the texts are right without attention too. It learns late"
        " what attention looks up. At twice the length both fail (46% and 31% of the digits): such texts were never "
        "met.",
        Experiment(task="reverse", learning_rate=0.005, a=_BAHDANAU, b=_ONE_VECTOR),
    ),
    Preset(
        "Recurrence",
        "Twice the text in one vector",
        "Attention reads any state again; one vector stays as long as it is. What becomes of 16 digits?",
        "With attention 92% of the texts are right after 500 steps (77% to 100%). Without it none is, and of the "
        "digits 37%, where of 8 digits it was 69% (see RNN with attention or without). The first digit of the answer "
        "is right in 80% of the texts, places 9 to 14 in 21% to 24%: there the vector is full, as far as it has "
        "learned.",
        Experiment(task="reverse", length=16, steps=500, learning_rate=0.005, a=_BAHDANAU, b=_ONE_VECTOR),
    ),
    Preset(
        "Recurrence",
        "Four times the vector",
        "If one vector is too short for 16 digits, does a vector four times as long carry them?",
        "Hardly within these 500 steps: 46% of the digits are right with a vector of 192 numbers, 37% with 48, and "
        "under 1% of the texts with either. With 2000 steps (one seed) the longer vector tells: 87% of the digits and"
        " 41% of the texts are right with it, 62% and 9% with the shorter. Attention needs neither the length nor the"
        " steps: see Twice the text in one vector.",
        Experiment(
            task="reverse", length=16, steps=500, learning_rate=0.005, a=_ONE_VECTOR, b=replace(_ONE_VECTOR, width=192)
        ),
    ),
    Preset(
        "Recurrence",
        "Sort from one vector",
        "Does every task need attention? To sort, no order has to be kept, only how many there are of each digit.",
        "No: from one vector of 48 numbers 96% of the texts of 16 digits are sorted after 300 steps (95% to 98%), "
        "with attention 98%. Half of them are right after 130 to 140 steps instead of 100 to 110. Ten counts say all "
        "that an answer needs, so the vector is long enough; the order of 16 digits is what it could not carry. At "
        "twice the length both fail (17% and 18% of the digits are right).",
        Experiment(task="sort", length=16, learning_rate=0.005, a=_BAHDANAU, b=_ONE_VECTOR),
    ),
    Preset(
        "Recurrence",
        "RNN with attention or a Transformer",
        "Once there is attention, is the recurrence still needed? A GRU beside an encoder-decoder Transformer.",
        "Not for this: both turn the text around, 99% of the texts are right with the RNN, 100% with the Transformer,"
        " half of them after 120 to 130 steps and after 70 to 80. Both look along the anti-diagonal, the Transformer "
        "more sharply: see the maps. At twice the length the RNN has 46% of the digits right and the Transformer 13%,"
        " and neither has a text right. An RNN's steps run one after the other, all places of the Transformer at "
        "once; at 8 digits on one core the training takes about as long (2.6 s and 3.1 s).",
        Experiment(task="reverse", learning_rate=0.005, a=_BAHDANAU, b=Switches(shape="encoder-decoder")),
    ),
    Preset(
        "Recurrence",
        "GRU or tanh RNN",
        "Gates let a state pass through many steps. Without attention, do they carry more of the text?",
        "Yes: with the GRU 69% of the digits and 30% of the texts are right after 300 steps, with the tanh RNN 39% "
        "and under 1%. The LSTM, also gated, has 63% and 19%. With attention the tanh RNN has 66% of the texts right "
        "(18% to 100% by seed): a state that is looked up need not be carried so far.",
        Experiment(task="reverse", learning_rate=0.005, a=_ONE_VECTOR, b=replace(_ONE_VECTOR, cell="tanh")),
    ),
)
INDUCTION = Preset(
    "Attention",
    "An induction head is born: one layer or two",
    "A block of random symbols is followed by itself. Can one layer find out how it goes on, or does it take two?",
    "It takes two, as Olsson et al. (2022) found: one head tells each token what stood before it, and a head in a "
    "later layer looks for the symbol at hand there. With two layers 99% of the symbols of the second time are right "
    "after 500 steps, and the best head of the second layer gives 82% to 87% of its attention to the token after the "
    "symbol's earlier place. It comes late and fast: half of the symbols are right only at step 250 to 260. With one "
    "layer 22% to 23% are right, and no head gives that token more than 17%. Four times as long, two layers fail as "
    "well (9% to 10%): such distances were never met.",
    Experiment(
        task="repeats",
        length=16,
        steps=500,
        learning_rate=0.003,
        a=_REPEATS,
        b=replace(_REPEATS, layers=1),
    ),
)
# A text of 8 digits is 17 tokens: the first 9 are a mark and the digits, the rest is where the answer is asked for.
_SEGMENTS = Switches(shape="decoder", positions="xl", segment=9, memory=9)
_RELAY = replace(_SEGMENTS, segment=4, memory=4)  # a digit is two memories back
PRESETS = (
    Preset(
        "Positions",
        "Reverse without positions",
        "Can a Transformer turn a text around when nothing tells it where a digit stands?",
        "At most the digits that stand in a text can be known, not their order: an encoder without positions gives "
        "equal digits equal answers wherever they stand. With sinusoidal positions 100% of the texts are right from "
        "about step 110 on. Without positions 31% of the digits and 0% of the texts are right, and more steps do "
        "not help. At twice the length both fail (13% and 23% of the digits are right): what was learned is a fixed "
        "pattern of 8 places.",
        Experiment(task="reverse", a=PAPER, b=Switches(positions="none")),
    ),
    INDUCTION,
    Preset(
        "Positions",
        "Copy without positions",
        "And can it copy without positions?",
        "Yes: each digit already stands in its place, and the residual stream carries it there. 100% of the texts "
        "are right with and without positions, at all three lengths. Copying needs no attention at all.",
        Experiment(task="copy", a=PAPER, b=Switches(positions="none")),
    ),
    Preset(
        "Attention",
        "Scaled or not",
        "What does dividing the scores by the root of the head width change?",
        "With one head of width 48, scores without the factor are about 7 times as large, so the softmax starts "
        "near one-hot and little gradient passes. With the scale 98% of the texts were sorted after 300 steps, "
        "without it 42%: it learns, only later. With four heads of width 12 the difference is small: 99% and 98%.",
        Experiment(task="sort", a=Switches(heads=1), b=Switches(heads=1, scale="none")),
    ),
    Preset(
        "Norm and residual",
        "Pre or post norm",
        "Does a deep network learn sooner with the norm before each sublayer than after it?",
        "Both learned everything in 200 steps, with 8 layers and a high learning rate: 99% to 100% of the texts are "
        "right. Pre-norm was sooner: half of the texts were right after about 80 steps, with post-norm after about "
        "130. At a learning rate of 0.002, or with 6 layers on sorting, there was less or nothing to see of it. A "
        "post-norm network that fails to learn, as large ones do, does not show at this size.",
        Experiment(steps=200, learning_rate=0.01, a=Switches(layers=8), b=Switches(layers=8, norm_placement="pre")),
    ),
    Preset(
        "Attention",
        "Tied Q and K",
        "Can a head that asks and answers with the same matrix still look elsewhere?",
        "Yes: tied scores are symmetric before the softmax, but positions still tell the places apart. Both end "
        "with 100% of the texts right; with tied Q and K it takes a little longer (half of the texts are right "
        "after 127 steps instead of 113). At this size tying costs little.",
        Experiment(task="reverse", a=PAPER, b=Switches(shared_query_key=True)),
    ),
    Preset(
        "Attention",
        "Additive or dot",
        "Does a small network inside the score learn more than a dot product?",
        "Not here: after 300 steps the dot product is right in 100% of the texts, the additive score in 72% (51% "
        "to 100%), and its step takes about twice the time. With 600 steps both reach 100%.",
        Experiment(task="reverse", a=PAPER, b=Switches(score="additive")),
    ),
    Preset(
        "Norm and residual",
        "Residual off",
        "How hard is it to copy, the simplest task of all, when each layer must pass everything on itself?",
        "Very hard: with the residual all texts are right within 50 steps. Without it, four layers deep, 29% of the "
        "digits and 0% of the texts are right: attention mixes the tokens and nothing brings the single one back "
        "(Dong et al. 2021). Two layers still learn it, a little later.",
        Experiment(task="copy", a=Switches(layers=4), b=Switches(layers=4, residual=False)),
    ),
    Preset(
        "Positions",
        "Longer texts: sinusoidal or ALiBi",
        "Trained on 8 digits, which of the two can still sort 16?",
        "With sinusoidal positions 24% of the digits of 16 are right, where 8 are sorted almost without a mistake: "
        "such places were never met. With ALiBi 80% of the digits are right, but only 4% of the texts, and at 32 "
        "digits 46% of the digits. Its rule goes on at any distance, yet it is no exact sorter. On reverse ALiBi "
        "fails even at 8 digits (32% are right): its distances have no direction.",
        Experiment(task="sort", a=PAPER, b=Switches(positions="alibi")),
    ),
    Preset(
        "Positions",
        "Longer texts: learned or RoPE",
        "Trained on 8 digits, which of the two can still sort 16?",
        "Neither: 21% and 38% of the digits are right, and 0% of the texts. Learned rows beyond the trained length "
        "are random; RoPE turns on, but to angles that were never met, and at 32 digits (6% are right) it is worse "
        "than guessing.",
        Experiment(task="sort", a=Switches(positions="learned"), b=Switches(positions="rope")),
    ),
    Preset(
        "Positions",
        "A decoder without positions",
        "An encoder without positions cannot know an order. Can a decoder, which sees only what came before?",
        "Somewhat (Haviv et al. 2022): a token that sees three others stands fourth. Without positions the decoder "
        "writes 65% of the digits and 31% of the texts right (0% to 51% by seed), where the encoder stays at 31% and "
        "0%. With sinusoidal positions it writes 100% right, half of the texts after about 103 steps.",
        Experiment(task="reverse", a=Switches(shape="decoder"), b=Switches(shape="decoder", positions="none")),
    ),
    Preset(
        "Attention",
        "Without W_Q, W_K and W_V",
        "Softmax(x x^T) x has no matrices to ask, to answer and to deliver. Is it enough to turn a text around?",
        "No: without the three projections 22% of the digits and 0% of the texts are right after 300 steps, with them "
        "100%. As a rule a token's product with itself is the largest, so it looks at itself, and the digit that is "
        "asked for stands elsewhere. (The layers are smaller too: they lose three matrices of the width squared.)",
        Experiment(task="reverse", a=PAPER, b=Switches(projections=False)),
    ),
    Preset(
        "Attention",
        "K = V",
        "Must what is matched be something else than what is delivered?",
        "Not here: with one matrix for keys and values 99% to 100% of the texts are sorted after 300 steps, as with "
        "two. Half of them are right after 120 steps instead of 113.",
        Experiment(task="sort", a=PAPER, b=Switches(shared_key_value=True)),
    ),
    Preset(
        "Attention",
        "Scaled or not, four times as wide",
        "The wider a head, the larger its products. What does a head of width 192 learn without the scale?",
        "Little in time: after 200 steps 57% of the digits and 1% of the texts are right without the scale, with it "
        "99% of the texts. With a head of width 48 and 300 steps it was 42% of the texts (see Scaled or not): the "
        "wider the head, the more is lost. It is slower, not unstable: no loss went astray.",
        Experiment(
            task="sort",
            steps=200,
            a=Switches(heads=1, width=192),
            b=Switches(heads=1, width=192, scale="none"),
        ),
    ),
    Preset(
        "Attention",
        "Additive or unscaled dot",
        "With a wide head and no scale, is the additive score better than the dot product?",
        "Yes, as Britz et al. (2017) found: with one head of width 48 the additive score sorts 98% of the texts after "
        "300 steps, the dot product without its scale 43%. With the scale the dot product gets 98% too (see Scaled "
        "or not): the scale is what it lacked.",
        Experiment(task="sort", a=Switches(heads=1, scale="none"), b=Switches(heads=1, score="additive")),
    ),
    Preset(
        "Attention",
        "One head or eight",
        "Are several heads more stable, or better, than one as wide as all of them?",
        "Hardly here: with one head 98% to 99% of the texts are sorted after 300 steps, with eight 99% to 100%, "
        " and half of them are right after 127 steps and 113. Seeds differ little either way, so nothing is seen "
        "of more stability.",
        Experiment(task="sort", a=Switches(heads=1), b=Switches(heads=8)),
    ),
    Preset(
        "Norm and residual",
        "LayerNorm or BatchNorm",
        "Does a Transformer learn less when each feature is normalised over the batch, not each token by itself?",
        "Not here: both sort 99% to 100% of the texts, and half of them are right after 113 steps and 123. These texts "
        "have one length and no padding, and batch and test are alike; what speaks against BatchNorm on language (Shen "
        "et al. 2020) does not arise. RMSNorm does as well: 99% to 100%, after 117 steps.",
        Experiment(task="sort", a=PAPER, b=Switches(norm="batch")),
    ),
    Preset(
        "Norm and residual",
        "No norm at all",
        "The norm is said to hold the inputs of each layer in place. Must they be, for two layers to learn?",
        "No: without any norm 100% of the texts are right after 300 steps too, half of them after 130 steps instead of "
        "113. The inner units drift, and more than with a norm: their deviation in the last layer goes from 0.76 to "
        "1.85 without a norm, from 0.57 to 0.74 with it (medians). So drift alone does not hinder learning; see Layer "
        "by layer. Deeper networks need the norm or the residual: see 24 layers without both.",
        Experiment(task="reverse", a=PAPER, b=Switches(norm="none")),
    ),
    Preset(
        "Norm and residual",
        "24 layers without both",
        "What reaches the first of 24 layers when there is neither norm nor residual?",
        "Nothing to learn from: before the first step the gradient in the first layer is 3e-28 to 7e-27 by seed, in "
        "the last 0.03 to 0.06, and after 60 steps 10% of the digits are copied right: guessing. With residual and "
        "pre-norm all texts are right by then, more than half of them after 20 steps.",
        Experiment(
            task="copy",
            steps=60,
            a=Switches(layers=24, width=24, ffn_width=48, norm_placement="pre"),
            b=Switches(layers=24, width=24, ffn_width=48, norm="none", residual=False),
        ),
    ),
    Preset(
        "Shape",
        "Encoder or encoder-decoder",
        "Does it help to write the answer token by token while attending to the text?",
        "A little: both turn 100% of the texts around after 300 steps. Half of the texts were right after 113 steps "
        "with the encoder alone, after 97 with encoder and decoder, whose step takes more than twice the time.",
        Experiment(task="reverse", a=PAPER, b=Switches(shape="encoder-decoder")),
    ),
    Preset(
        "Training",
        "Dropout",
        "Dropout is said to help against overfitting. What does it do where every text is new?",
        "It costs: with a share of 0.1 dropped 79% of the texts are sorted after 300 steps (74% to 83%), without it "
        "99%. No text comes twice here, so nothing can be learned by heart and there is nothing to gain.",
        Experiment(task="sort", a=PAPER, b=Switches(dropout=0.1)),
    ),
    Preset(
        "Training",
        "Warm-up",
        "Is warm-up a matter of taste, or can a training fail without it?",
        "It can fail: with 8 post-norm layers and a high learning rate, 20 steps of warm-up are enough for 100% of the "
        "texts; without them 10% of the digits are right after 200 steps from all three seeds: guessing. With pre-norm "
        "all texts are right without warm-up too (Xiong et al. 2020). With 6 post-norm layers and half the rate both "
        "learn everything, half of the texts after 87 steps with warm-up and 100 without. Overfitting has no part in "
        "it: every text is new.",
        Experiment(steps=200, learning_rate=0.01, a=Switches(layers=8), b=Switches(layers=8, warmup=0)),
    ),
    Preset(
        "Training",
        "Embeddings of another model",
        "Ten kinds of words: can the kind of a word be told that no training ever saw?",
        "Only where its embedding was trained elsewhere. With mini-bert's embeddings, left as they are, 90% of the "
        "unseen words are right after 100 steps (88% to 92% by seed), with the same trained on 89%, with random ones "
        "13%, which is about guessing. On the words that are learned all three are right: what is gained is gained "
        "where there is little to learn from (Qi et al. 2018).",
        Experiment(task="kinds", steps=100, a=PAPER, b=Switches(embeddings="frozen")),
    ),
    Preset(
        "Training",
        "Too high a learning rate",
        "What becomes of a network, and of its ReLU units, at 25 times the learning rate?",
        "It learns almost nothing: 19% of the digits and 0% of the texts are right after 200 steps instead of 100%. Of "
        "the FFN's inner units 35% (median of the seeds) are below 0 for every token at the end: they give nothing and "
        "no gradient reaches them. At the lower rate none is: how many die depends on the rate, not on ReLU alone.",
        Experiment(steps=200, a=PAPER, b=Switches(learning_rate=0.05)),
    ),
    *RECURRENCE,
    Preset(
        "Memory over segments",
        "Copy across a border",
        "A decoder reads 9 tokens at a time: first the digits, then the place of the answer. Can it copy what it no "
        "longer sees?",
        "Only with a memory, as Transformer-XL has it (Dai et al. 2019). With 9 tokens of memory in each layer 100% of "
        "the texts are right, half of them after 60 steps. Without memory 10% of the digits are right (9% to 10%), "
        "which is chance: nothing crosses the border. At twice the length both are at chance (11% and 10%): what was "
        "learned is to look 8 tokens back, and 16 was never met.",
        Experiment(task="copy", steps=200, a=_SEGMENTS, b=replace(_SEGMENTS, memory=0)),
    ),
    Preset(
        "Memory over segments",
        "Memory with relative or absolute positions",
        "Why did memory over segments need new positions? A table begins anew with each segment.",
        "Because a key of the memory and a key of the segment then stand at the same place. With segments of 6 tokens "
        "and a memory of 12, positions by distance (Transformer-XL) have 100% of the texts right, half of them after "
        "60 steps. With sinusoidal positions, which begin anew every 6 tokens, 30% of the digits (29% to 31%) and 0% "
        "of the texts are right after the same 200 steps.",
        Experiment(
            task="copy",
            steps=200,
            a=replace(_SEGMENTS, segment=6, memory=12),
            b=replace(_SEGMENTS, segment=6, memory=12, positions="sinusoidal"),
        ),
    ),
    Preset(
        "Memory over segments",
        "One long memory or two short ones",
        "Each digit is 8 tokens back. Two layers with a memory of 4 reach as far as one layer with a memory of 8. Do "
        "they learn it?",
        "Hardly: one layer with a memory of 8 copies 100% of the texts, half of them after 70 steps. Two layers with a "
        "memory of 4, which see 2 times 4 tokens back through a token in between (segments have 4 tokens), have 29% of "
        "the digits (29% to 30%) and 0% of the texts right. Context reaches layers times "
        "memory, but gradients stop at the border of a segment: what an earlier segment should hand on is not taught "
        "(see the next experiment).",
        Experiment(
            task="copy",
            a=replace(_SEGMENTS, layers=1, segment=4, memory=8),
            b=_RELAY,
        ),
    ),
    Preset(
        "Memory over segments",
        "Gradients through the memory",
        "Two layers with a memory of 4 can reach 8 tokens back, and hardly learn to. Does the gradient, which stops at "
        "a segment's border, explain it?",
        "It does. With gradients through the memory the same network has 100% of the texts right, half of them after "
        "120 to 130 steps; without, 29% of the digits and 0% of the texts. Transformer-XL stops them so that a step of "
        "the training holds one segment alone, and takes a memory as long as what is to be learned.",
        Experiment(task="copy", a=replace(_RELAY, memory_gradient=True), b=_RELAY),
    ),
    Preset(
        "Memory over segments",
        "Layers times memory",
        "And if layers times memory do not reach? Each digit is 8 tokens back, the memory has 4.",
        "Then nothing is learned, gradients or not: one layer with a memory of 4 has 12% of the digits right (10% to "
        "13%), about chance. Two layers reach 8 tokens, and have 100% of the texts right.",
        Experiment(
            task="copy",
            a=replace(_RELAY, memory_gradient=True),
            b=replace(_RELAY, memory_gradient=True, layers=1),
        ),
    ),
)
