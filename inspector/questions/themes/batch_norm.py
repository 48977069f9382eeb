"""BatchNorm: which statistics it takes, and what padding and the batch size change. Questions 53, 55 to 59 and 66."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from inspector import normalization
from inspector.questions.record.both import Both
from inspector.questions.record.checks import above, below, equal, near
from inspector.questions.record.measured import RANDOM
from inspector.questions.record.papers import DEVLIN_2019, IOFFE_2015, SHEN_2020, VASWANI_2017
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import ClaimPart, Label, Measurement, PageLink, Question, Theme
from inspector.questions.record.subject import Subject
from inspector.questions.themes.together import BATCHED, BESIDE, TextBatch, before_a_norm, sentences, together
from models.training.recipes import MINI_BERT
from models.transformer import norms

PADDED = 20  # columns of padding that are added
COLUMNS = (0, 5, 10, 20, 40, 80)
SIZES = (1, 4, 16, 64)  # texts in a batch
STEPS = 100  # updates of the running averages


def _dimensions(subject: Subject) -> Measurement:
    x = torch.from_numpy(together(subject).x)  # [N, T, D]
    features = x.shape[-1]

    def given(values: torch.Tensor, made: nn.Module) -> torch.Tensor:
        with torch.no_grad():
            normalised: torch.Tensor = made.double().train()(values)
        return normalised

    def taken(values: torch.Tensor, *axes: int) -> torch.Tensor:
        mean, variance = values.mean(axes, keepdim=True), values.var(axes, correction=0, keepdim=True)
        return (values - mean) / (variance + 1e-5).sqrt()

    texts = x.transpose(1, 2)  # [N, D, T]
    images = torch.randn(8, 3, 6, 6, generator=torch.Generator().manual_seed(0)).double()
    rows, sequences = given(x[:, 0], nn.BatchNorm1d(features)), given(texts, nn.BatchNorm1d(features))
    differences = {
        "rows": float((rows - taken(x[:, 0], 0)).abs().max()),
        "texts": float((sequences - taken(texts, 0)).abs().max()),
        "pooled": float((sequences - taken(texts, 0, 2)).abs().max()),
        "images": float((given(images, nn.BatchNorm2d(3)) - taken(images, 0, 2, 3)).abs().max()),
    }
    return Measurement(
        differences,
        Bars(
            [
                Both("[N, D], over N", "[N, D]，沿 N"),
                Both("[N, D, T], over N", "[N, D, T]，沿 N"),
                Both("[N, D, T], over N and T", "[N, D, T]，沿 N 和 T"),
                Both("[N, C, H, W], over N, H and W", "[N, C, H, W]，沿 N、H、W"),
            ],
            list(differences.values()),
            Both("largest difference from torch's BatchNorm", "与 torch 的 BatchNorm 的最大差"),
            parts=["norm"] * 4,
        ),
    )


DIMENSIONS = Question(
    53,
    mixed="conditions",
    asked=Both("Over which dimensions does BatchNorm take its statistics?", "BatchNorm 在哪些维度上求统计量？"),
    claim=Both(
        "BatchNorm takes mean and variance over the batch dimension, for each feature.",
        "BatchNorm 在批次维度上求均值和方差，对每个特征维度独立进行。",
    ),
    parts=(
        ClaimPart(
            Both("Of a table [N, D]: over N alone.", "输入为表格 [N, D] 时：只沿 N。"),
            (below("rows", 1e-6),),
        ),
        ClaimPart(
            Both("Of texts [N, D, T]: over N alone.", "输入为文本 [N, D, T] 时：只沿 N。"),
            (below("texts", 1e-6),),
        ),
        ClaimPart(
            Both("Of texts [N, D, T]: over N and T together.", "输入为文本 [N, D, T] 时：沿 N 和 T 一起。"),
            (below("pooled", 1e-6),),
        ),
        ClaimPart(
            Both("Of images [N, C, H, W]: over N, H and W.", "输入为图像 [N, C, H, W] 时：沿 N、H、W。"),
            (below("images", 1e-6),),
        ),
    ),
    measure=_dimensions,
    numbers={
        "rows": Label(Both("[N, D]: difference from statistics over N", "[N, D]：与沿 N 求统计量之差")),
        "texts": Label(Both("[N, D, T]: difference from statistics over N", "[N, D, T]：与沿 N 求统计量之差")),
        "pooled": Label(
            Both("[N, D, T]: difference from statistics over N and T", "[N, D, T]：与沿 N、T 求统计量之差")
        ),
        "images": Label(
            Both("[N, C, H, W]: difference from statistics over N, H, W", "[N, C, H, W]：与沿 N、H、W 求统计量之差"),
            of=RANDOM,
        ),
    },
    setting=Both(
        "torch's BatchNorm1d in training mode on states of the text and of seven other sentences before the middle "
        "norm of the model, in float64; [N, D] is the first column of that batch. Images: random [8, 3, 6, 6], seed 0.",
        "torch 的 BatchNorm1d（训练模式），输入是该文本和另外七个句子在模型中间一个归一化层之前的激活值，float64；"
        "[N, D] 取该批次的第一列。图像：随机 [8, 3, 6, 6]，种子 0。",
    ),
    because=Both(
        "The name says batch, and in a table the batch is all there is to average over. Texts and images have places "
        "too, and BatchNorm pools over them.",
        "名字里只有 Batch（批次），而在表格数据中也只有这一维可以求平均。文本和图像还有位置维，BatchNorm "
        "会把它们一起算进来。",
    ),
    refuted=Both(
        "A text batch on which torch's BatchNorm1d equals statistics over N alone.",
        "如果在文本批次上，torch 的 BatchNorm1d 与只沿 N 求统计量的结果相同，判断就会改变。",
    ),
    formula=r"\mu_d = \frac{1}{N T} \sum_{n,t} x_{ndt}: \; \Delta = <pooled>, \qquad "
    r"\mu_{dt} = \frac{1}{N} \sum_n x_{ndt}: \; \Delta = <texts>",
    papers=(IOFFE_2015,),
    see=PageLink("layernorm", {"section": "Another norm"}),
    of=BATCHED,
)


def _padding(subject: Subject) -> Measurement:
    batch = together(subject)
    before = batch.empty

    def moved(norm: normalization.OtherNorm, columns: int) -> float:
        wide = np.pad(before, ((0, 0), (0, columns), (0, 0)))
        keep = np.pad(batch.keep, ((0, 0), (0, columns)))
        first = normalization.through(before, batch.keep, norm=norm, epsilon=batch.epsilon)[batch.keep]
        return float(np.abs(normalization.through(wide, keep, norm=norm, epsilon=batch.epsilon)[keep] - first).max())

    kinds: dict[normalization.OtherNorm, Both] = {
        "batch": Both("BatchNorm, padding counted", "BatchNorm，计入填充"),
        "masked batch": Both("BatchNorm, padding masked", "BatchNorm，排除填充"),
        "layer": Both("LayerNorm", "LayerNorm"),
    }
    curves = {kind: [moved(kind, columns) for columns in COLUMNS] for kind in kinds}
    at = COLUMNS.index(PADDED)
    return Measurement(
        {
            "batch": curves["batch"][at],
            "layer": curves["layer"][at],
            "masked": curves["masked batch"][at],
            "padding": float(1 - batch.keep.mean()),
        },
        Lines(
            tuple(
                Series(name, COLUMNS, curves[kind], part="norm", dashed=kind != "batch") for kind, name in kinds.items()
            ),
            x_title=Both("columns of padding added", "增加的填充列数"),
            y_title=Both("largest change of a real token", "真实 token 的最大变化"),
        ),
    )


PADDING = Question(
    55,
    asked=Both("Does padding disturb BatchNorm, and LayerNorm not?", "填充会干扰 BatchNorm，而不干扰 LayerNorm 吗？"),
    claim=Both(
        "Padding pollutes the statistics of BatchNorm. LayerNorm does not see it.",
        "填充会污染 BatchNorm 的批次统计量；LayerNorm 只用单个 token 的统计量，不受影响。",
    ),
    parts=(
        ClaimPart(
            Both("More padding moves real tokens in BatchNorm.", "填充增多时，BatchNorm 中真实 token 的值会变。"),
            (above("batch", 0.1),),
        ),
        ClaimPart(
            Both("In LayerNorm it moves none of them.", "在 LayerNorm 中，真实 token 的值完全不变。"),
            (equal("layer", 0),),
        ),
    ),
    measure=_padding,
    numbers={
        "batch": Label(Both("largest change of a real token, BatchNorm", "真实 token 的最大变化，BatchNorm")),
        "layer": Label(Both("largest change of a real token, LayerNorm", "真实 token 的最大变化，LayerNorm")),
        "masked": Label(
            Both(
                "largest change of a real token, BatchNorm without the padding",
                "真实 token 的最大变化，排除填充的 BatchNorm",
            )
        ),
        "padding": Label(Both("padding of the batch, before any is added", "批次原有的填充占比"), "%"),
    },
    setting=Both(
        "States of the text and of seven other sentences before the middle norm of the model; 20 columns of zeros "
        "are added. Change of a real token's number after the norm, without gamma and beta.",
        "该文本和另外七个句子在模型中间一个归一化层之前的激活值；增加 20 列全零填充。比较真实 token "
        "在归一化之后（不带 γ、β）的数值变化。",
    ),
    because=Both(
        "Frameworks count all cells, so padding pulls a feature's mean to the padding's own number. That is no law: a "
        "BatchNorm that leaves padding out of its statistics is not moved, so padding alone does not exclude "
        "BatchNorm.",
        "框架默认统计所有位置，填充会把特征的均值拉向填充值。但这并非必然：统计时排除填充的 BatchNorm 完全不变，"
        "所以单凭填充并不能排除 BatchNorm。",
    ),
    refuted=Both(
        "A BatchNorm over all cells whose real tokens stay as they are when padding is added.",
        "如果统计所有位置的 BatchNorm 在增加填充后真实 token 不变，判断就会改变。",
    ),
    formula=r"\mu_d = \frac{1}{B T} \sum_{b,t} x_{btd}: \quad \max |\Delta|_{\mathrm{BN}} = <batch>, \quad "
    r"\max |\Delta|_{\mathrm{LN}} = <layer>",
    papers=(SHEN_2020,),
    see=PageLink("layernorm", {"section": "Another norm", "pad_more": str(PADDED), "pad_holds": "padding holds zeros"}),
    of=BATCHED,
)


LENGTHS = (*[5] * 9, 20)  # tokens of the note's ten texts
NINE = Both(
    "The cat sat down quietly.\nTwo boys ran home early.\nRain fell on the roof.\nMy sister reads old books.\nWe ate "
    "bread and cheese.\nThe red door stayed shut.\nHe wrote a long letter.\nBirds sing before the dawn.\nShe sold her "
    "small house.",
    "小猫安静地坐下。\n两个男孩跑回家。\n雨落在屋顶上。\n姐姐喜欢读旧书。\n我们吃面包和奶酪。\n红色的门一直关着。"
    "\n他写了一封长信。\n"
    "天亮之前鸟儿歌唱。\n她卖掉了小房子。",
)
"""Nine texts, a line each, that are cut to five tokens."""


def notes_batch(subject: Subject) -> TextBatch:
    """The note's batch before the middle norm: nine texts of 5 tokens and one of 20, each the first of its text."""
    long = sentences(subject)[-1]
    nine = NINE.en if long in BESIDE.en else NINE.zh
    batch = before_a_norm(subject.loaded, [*nine.splitlines(), long])
    columns = max(LENGTHS)
    keep = batch.keep[:, :columns] & (np.arange(columns) < np.array(LENGTHS)[:, None])
    return TextBatch(batch.x[:, :columns], keep, batch.epsilon)


def _late(subject: Subject) -> Measurement:
    batch = notes_batch(subject)
    table = normalization.by_position(batch.x, batch.keep)
    late = table[table["position"] >= LENGTHS[0]]
    return Measurement(
        {
            "texts": float(len(batch.keep)),
            "fifth": float(table["count"].iloc[LENGTHS[0] - 1]),
            "alone": float((table["count"] == 1).sum()),
            "deviation": float(late["deviation"].max()) if len(late) else float("nan"),
            "pooled": float(batch.keep.sum()),
            "pooled_deviation": float(batch.x[batch.keep].std(axis=0).mean()),
        },
        Lines(
            (Series(Both("texts", "文本数"), table["position"].tolist(), table["count"].tolist(), part="norm"),),
            x_title=Both("position", "位置"),
            y_title=Both("texts with a real token there", "该位置有真实 token 的文本数"),
            mark_y=1.0,
        ),
    )


LATE = Question(
    56,
    reads_text=False,
    asked=Both("How many samples has BatchNorm at late positions?", "在靠后的位置，BatchNorm 有多少样本？"),
    claim=Both(
        "Of ten texts nine have 5 words and one has 20: from position 6 on there is a single sample.",
        "批次里 9 个样本长度为 5，第 10 个长度为 20：从第 6 个词开始就只剩一个样本。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Ten texts have a token at position 5, and at each of the 15 positions from 6 on there is one.",
                "第 5 个位置上有 10 个文本，从第 6 个起的 15 个位置上各只有一个。",
            ),
            (equal("fifth", 10), equal("alone", 15)),
        ),
        ClaimPart(
            Both(
                "The deviation over it is 0, and every token there becomes the same: beta.",
                "此时标准差为 0，那里的任何 token 都变成同一个值 β。",
            ),
            (equal("deviation", 0),),
        ),
        ClaimPart(
            Both(
                "But BatchNorm as frameworks have it pools all positions: a late token shares the statistics of all.",
                "但框架中的 BatchNorm 把所有位置合并统计，靠后的 token 与其他 token 共用统计量。",
            ),
            (above("pooled", 1), above("pooled_deviation", 0)),
            role="limit",
        ),
    ),
    measure=_late,
    numbers={
        "texts": Label(Both("texts in the batch", "批次中的文本数")),
        "fifth": Label(Both("texts at position 5", "第 5 个位置上的文本数")),
        "alone": Label(Both("positions with a single text", "只有一个文本的位置数")),
        "deviation": Label(Both("deviation at a position from 6 on, largest", "第 6 个位置起的标准差，最大值")),
        "pooled": Label(Both("samples of a feature, all positions pooled", "合并所有位置后每个特征的样本数")),
        "pooled_deviation": Label(
            Both("deviation of a feature, all positions pooled", "合并所有位置后每个特征的标准差")
        ),
    },
    setting=Both(
        "The batch is an interview note's: nine texts of 5 tokens and one of 20, which are the first tokens of ten "
        "sentences. States before the middle norm; BatchNorm with statistics of its own for each position, and pooled, "
        "over the real tokens.",
        "批次取自面试笔记：9 个文本各 5 个 token，一个 20 个 token，取自十个句子的开头。"
        "看中间一个归一化层之前的隐藏状态；"
        "BatchNorm 对每个位置单独统计，另外再合并统计，只用真实 token。",
    ),
    because=Both(
        "The example is right for statistics by position. Where all positions are pooled the trouble is not that a "
        "late "
        "token is alone, but that it is different.",
        "对按位置统计的 BatchNorm，这个例子成立。合并所有位置时，问题不在于样本少，而在于不同位置的分布不同。",
    ),
    refuted=Both(
        "A ragged batch whose last position has as many texts as the first.",
        "如果长短不一的批次在最后的位置与第一个位置有同样多的文本，判断就会改变。",
    ),
    formula=r"n_5 = <fifth>, \quad n_{6 \ldots 20} = 1: \; <alone>, \quad \sigma_{t} = <deviation>, \qquad "
    r"n = <pooled>",
    papers=(IOFFE_2015,),
    see=PageLink("layernorm", {"section": "Another norm"}),
    of=BATCHED,
)


def noise(subject: Subject) -> dict[int, float]:
    """The move of BatchNorm's mean by texts in the batch, in deviations, on the reader's text and seven sentences."""

    def make() -> dict[int, float]:
        batch = together(subject)
        sizes = (*SIZES, *(_texts_of(tokens, batch) for tokens in STEPS_OF.values()))
        table = normalization.noise(batch.x, batch.keep, sizes=sizes)
        return {int(texts): float(move) for texts, move in table.itertuples(index=False)}

    return subject.once("noise of a batch", make)


STEPS_OF = {"mini": MINI_BERT.batch_tokens, "vaswani": 25_000, "bert": 256 * 512}
"""Tokens in a step of training: of mini-bert, of Vaswani et al. (section 5.1), of Devlin et al. (appendix A.2)."""


def _texts_of(tokens: int, batch: TextBatch) -> int:
    """The number of texts, of the batch's mean length, in a training step of so many tokens."""
    return max(1, round(tokens / float(batch.keep.sum(axis=1).mean())))


def _small(subject: Subject) -> Measurement:
    moves = noise(subject)
    raised = 0.0
    try:
        nn.BatchNorm1d(4).train()(torch.zeros(1, 4))
    except ValueError:
        raised = 1.0
    return Measurement(
        {"one": moves[1], "four": moves[4], "sixteen": moves[16], "sixty_four": moves[64], "raised": raised},
        _noise_lines(moves),
    )


def _noise_lines(moves: dict[int, float]) -> Lines:
    sizes = sorted(moves)
    root = [moves[1] / np.sqrt(size) for size in sizes]
    return Lines(
        (
            Series(Both("measured", "测得"), sizes, [moves[size] for size in sizes], part="norm"),
            Series(Both("1/√N", "1/√N"), sizes, root, part="norm", dashed=True),
        ),
        x_title=Both("texts in the batch, N", "批次中的文本数 N"),
        y_title=Both("move of the mean, in deviations", "均值的波动（以标准差为单位）"),
        log_x=True,
        log_y=True,
    )


SMALL = Question(
    57,
    asked=Both("Is BatchNorm noisy in small batches?", "批次较小时，BatchNorm 的统计量不稳定吗？"),
    claim=Both(
        "With a small batch the mean and variance of BatchNorm are unreliable.",
        "批次较小时，BatchNorm 的均值和方差不能代表全部数据，效果差。",
    ),
    parts=(
        ClaimPart(
            Both(
                "The mean moves twice as far with 4 texts as with 16, and more with 1.",
                "4 个文本时均值的波动约为 16 个文本时的两倍，1 个文本时更大。",
            ),
            (near("four", "sixteen", within=0.25, times=2.0), above("one", "four", times=1.5)),
        ),
        ClaimPart(
            Both("It falls with the root of the batch size.", "波动按批次大小的平方根下降。"),
            (near("sixty_four", "sixteen", within=0.2, times=0.5),),
        ),
        ClaimPart(
            Both("One sample alone cannot be trained on: torch refuses.", "只有一个样本时无法训练：torch 直接报错。"),
            (equal("raised", 1),),
        ),
    ),
    measure=_small,
    numbers={
        "one": Label(Both("move of the mean with 1 text, in deviations", "1 个文本时均值的波动（以标准差为单位）")),
        "four": Label(Both("move of the mean with 4 texts", "4 个文本时均值的波动")),
        "sixteen": Label(Both("move of the mean with 16 texts", "16 个文本时均值的波动")),
        "sixty_four": Label(Both("move of the mean with 64 texts", "64 个文本时均值的波动")),
        "raised": Label(Both("errors of nn.BatchNorm1d on one sample", "nn.BatchNorm1d 对单个样本报错的次数")),
    },
    setting=Both(
        "Batches are drawn 400 times, with replacement, from states of the text and of seven other sentences before "
        "the middle norm, seed 0. Move: the standard deviation of a feature's batch mean over the draws, divided by "
        "the feature's own.",
        "从该文本和另外七个句子在中间一个归一化层之前的激活值中有放回地抽取批次，抽 400 次，种子 0。波动："
        "某特征的批次均值在各次抽取间的标准差，除以该特征自身的标准差。",
    ),
    because=Both(
        "A mean of few numbers is far from the mean of all. Tokens of one text are alike, so a text counts for less "
        "than its tokens.",
        "少数几个数的平均值离总体均值较远。同一文本的 token 彼此相似，所以一个文本能起的作用比它的 token 数少。",
    ),
    refuted=Both(
        "A mean over 4 texts that moves no farther than one over 64.",
        "如果 4 个文本的均值波动不比 64 个文本的大，判断就会改变。",
    ),
    formula=r"\frac{\sigma(\mu_{16})}{\sigma} = <sixteen>, \quad \frac{\sigma(\mu_{64})}{\sigma} = <sixty_four>",
    papers=(IOFFE_2015,),
    see=PageLink("layernorm", {"section": "Another norm"}),
    of=BATCHED,
)


def _large(subject: Subject) -> Measurement:
    moves, batch = noise(subject), together(subject)
    return Measurement(
        {
            **{name: moves[_texts_of(tokens, batch)] for name, tokens in STEPS_OF.items()},
            "four": moves[4],
            "one": moves[1],
        },
        _noise_lines(moves),
    )


LARGE = Question(
    58,
    asked=Both(
        "Does the Transformer avoid BatchNorm because its batches are small?",
        "Transformer 不用 BatchNorm，是因为批次通常较小吗？",
    ),
    claim=Both(
        "Transformers train on small batches, on which BatchNorm's statistics are noisy.",
        "Transformer 的批次通常较小，BatchNorm 的统计量不稳定，所以不用 BatchNorm。",
    ),
    parts=(
        ClaimPart(
            Both(
                "In a step of the first Transformer, 25,000 target tokens, the mean still moves by a tenth of a "
                "deviation.",
                "最初的 Transformer 一步有 25000 个目标端 token，均值的波动仍有标准差的十分之一。",
            ),
            (above("vaswani", 0.1),),
        ),
        ClaimPart(
            Both(
                "In a step of BERT, 256 texts of 512 tokens, it does too.",
                "BERT 一步有 256 段、每段 512 个 token，也是这样。",
            ),
            (above("bert", 0.1),),
        ),
        ClaimPart(
            Both(
                "Even in a very small training, 2,048 tokens a step, it does not.",
                "即使是很小的训练，每步 2048 个 token，也达不到。",
            ),
            (below("mini", 0.1),),
            role="mechanism",
        ),
        ClaimPart(
            Both(
                "Where 4 short texts are all that a device holds, it moves by more than a tenth.",
                "如果一台设备只放得下 4 段短文本，波动就超过十分之一。",
            ),
            (above("four", 0.1),),
            role="limit",
        ),
    ),
    measure=_large,
    numbers={
        "vaswani": Label(
            Both(
                "move of the mean, 25,000 tokens a step, in deviations",
                "每步 25000 个 token 时均值的波动（以标准差为单位）",
            )
        ),
        "bert": Label(Both("move of the mean, 131,072 tokens a step", "每步 131072 个 token 时均值的波动")),
        "mini": Label(Both("move of the mean, 2,048 tokens a step", "每步 2048 个 token 时均值的波动")),
        "four": Label(Both("move of the mean with 4 texts", "4 个文本时均值的波动")),
        "one": Label(Both("move of the mean with a single text", "只有一个文本时均值的波动")),
    },
    setting=Both(
        "States of the text and of seven other sentences before the middle norm, drawn as in question 57, as many as "
        "fill a step of the published trainings: Vaswani et al. (section 5.1) took about 25,000 source and 25,000 "
        "target "
        "tokens, Devlin et al. (appendix A.2) 256 texts of 512; mini-bert's recipe is this project's.",
        "该文本和另外七个句子在中间一个归一化层之前的隐藏状态，抽取方式同第 57 题，抽到与公开的训练配置一步同样多："
        "Vaswani 等人（5.1 节）每步约 25000 个源端和 25000 个目标端 token，Devlin 等人（附录 A.2）256 段、每段 512 个；"
        "mini-bert 的配置是本项目的。",
    ),
    because=Both(
        "Batches are counted in texts, where they look small, but BatchNorm averages over tokens. Shen et al. (2020) "
        "find another cause: in language the batch statistics go up and down during training far more than in images.",
        "批次大小常按句子数计，看起来不大，而 BatchNorm 是对 token 求平均。Shen 等人（2020）找到的原因不同：训练中，"
        "语言数据的批次统计量比图像数据波动大得多。",
    ),
    refuted=Both(
        "Recipes whose steps have so few tokens that the mean of a feature moves by a tenth of its deviation.",
        "如果通行的训练配置每步 token 少到特征均值会波动标准差的十分之一，判断就会改变。",
    ),
    formula=r"\frac{\sigma(\mu)}{\sigma}: \quad <vaswani> \; (25{,}000), \quad <bert> \; (131{,}072), \quad "
    r"<four> \; (N = 4)",
    papers=(VASWANI_2017, DEVLIN_2019, SHEN_2020),
    see=PageLink("layernorm", {"section": "Another norm"}),
    of=BATCHED,
)


def _running(subject: Subject) -> Measurement:
    batch = together(subject)
    x, keep = torch.from_numpy(batch.x), torch.tensor(batch.keep)
    width = x.shape[-1]
    seen, new = slice(1, -1), [0, -1]
    batch_norm = norms.BatchNorm(width, batch.epsilon, masked=True).double()
    layer_norm = norms.LayerNorm(width, batch.epsilon).double()
    with torch.no_grad():
        for _ in range(STEPS):
            batch_norm.train()(x[seen], keep=keep[seen])
        gaps = [
            (norm.eval()(x[new], keep=keep[new]) - norm.train()(x[new], keep=keep[new]))[keep[new]].abs()
            for norm in (batch_norm, layer_norm)
        ]
    return Measurement(
        {"batch": float(gaps[0].max()), "mean": float(gaps[0].mean()), "layer": float(gaps[1].max())},
        Bars(
            [Both("BatchNorm", "BatchNorm"), Both("LayerNorm", "LayerNorm")],
            [float(gap.mean()) for gap in gaps],
            Both("mean difference between training and inference", "训练与推理之间的平均差"),
            parts=["norm"] * 2,
        ),
    )


RUNNING = Question(
    59,
    asked=Both("Do the norms compute the same in training and inference?", "训练和推理时，归一化的计算一致吗？"),
    claim=Both(
        "BatchNorm takes batch statistics in training and running averages in inference; LayerNorm has no such gap.",
        "BatchNorm 训练时用批次统计量，推理时用移动平均，两者不一致；LayerNorm 始终一致。",
    ),
    parts=(
        ClaimPart(
            Both("BatchNorm gives other numbers in inference.", "BatchNorm 在推理时给出不同的数值。"),
            (above("batch", 0.1),),
        ),
        ClaimPart(
            Both("LayerNorm gives the same numbers.", "LayerNorm 给出完全相同的数值。"),
            (equal("layer", 0),),
        ),
    ),
    measure=_running,
    numbers={
        "batch": Label(
            Both("largest difference between training and inference, BatchNorm", "训练与推理之间的最大差，BatchNorm")
        ),
        "mean": Label(
            Both("mean difference between training and inference, BatchNorm", "训练与推理之间的平均差，BatchNorm")
        ),
        "layer": Label(
            Both("largest difference between training and inference, LayerNorm", "训练与推理之间的最大差，LayerNorm")
        ),
    },
    setting=Both(
        "The norms of Headlight's own Transformer. BatchNorm keeps running averages (momentum 0.1, 100 steps) of six "
        "sentences before the middle norm, padding left out; then the text and a seventh sentence go through each "
        "norm in both modes.",
        "Headlight 自己的 Transformer 中的归一化层。BatchNorm 先在六个句子上累计移动平均（动量 0.1，100 步，"
        "排除填充），再让该文本和第七个句子分别以训练模式和推理模式通过各归一化层。",
    ),
    because=Both(
        "A text must not depend on the texts that happen to be asked with it, so BatchNorm has to keep averages. "
        "They fit as well as the training's texts are like yours.",
        "推理时，一个文本的结果不应取决于同批的其他文本，所以 BatchNorm 只能用累计的平均值；它是否合适，"
        "要看训练文本与你的文本有多像。",
    ),
    refuted=Both(
        "Texts unlike those of training on which both modes of BatchNorm agree.",
        "如果在与训练文本不同的文本上，BatchNorm 的两种模式仍然一致，判断就会改变。",
    ),
    formula=r"\hat{\mu} \leftarrow 0.9\, \hat{\mu} + 0.1\, \mu_B: \quad |\Delta|_{\mathrm{BN}} = <batch>, \quad "
    r"|\Delta|_{\mathrm{LN}} = <layer>",
    papers=(IOFFE_2015,),
    see=PageLink("layernorm", {"section": "Another norm"}),
    of=BATCHED,
)


def _both_sides(subject: Subject) -> Measurement:
    batch = together(subject)
    x, keep = batch.x, batch.keep
    running = normalization.running_statistics(x[1:], keep[1:])
    text, real = x[:1], keep[:1]

    def alone(norm: normalization.OtherNorm) -> float:
        beside = normalization.through(x, keep, norm=norm, epsilon=batch.epsilon, running=running)[:1][real]
        without = normalization.through(text, real, norm=norm, epsilon=batch.epsilon, running=running)[real]
        return float(np.abs(beside - without).max())

    width = x.shape[-1]
    weight = np.random.default_rng(0).normal(size=(width, width)) / np.sqrt(width)
    linear = (text @ weight.T)[real]
    mean, variance = running
    factor = 1 / np.sqrt(variance + batch.epsilon)
    apart = (linear - mean) * factor
    folded = text[real] @ (weight * factor[:, None]).T - mean * factor
    return Measurement(
        {
            "folded": float(np.abs(apart - folded).max() / np.abs(apart).max()),
            "others": alone("batch"),
            "running": alone("running batch"),
        },
        Bars(
            [Both("training", "训练"), Both("inference", "推理")],
            [alone("batch"), alone("running batch")],
            Both("largest change of your text without the other texts", "去掉其他文本后，你的文本的最大变化"),
            parts=["norm"] * 2,
        ),
    )


BOTH_SIDES = Question(
    66,
    mixed="conditions",
    asked=Both("What speaks for BatchNorm, and what against it?", "BatchNorm 有什么优缺点？"),
    claim=Both(
        "BatchNorm is for images of a fixed size. It depends on the batch, so it cannot be used on texts.",
        "BatchNorm 适合图像等输入尺寸固定的任务；它依赖批次，不能用于变长的文本。",
    ),
    parts=(
        ClaimPart(
            Both(
                "In inference it folds into the linear layer before it and costs nothing.",
                "推理时可以并入前面的线性层，不增加计算。",
            ),
            (below("folded", 1e-6),),
            role="limit",
        ),
        ClaimPart(
            Both(
                "In training a text comes out different with other texts beside it.",
                "训练时，同批的其他文本不同，一个文本的结果就不同。",
            ),
            (above("others", 0.1),),
        ),
        ClaimPart(
            Both(
                "In inference a text still depends on the texts beside it.",
                "推理时，一个文本仍然依赖同批的其他文本。",
            ),
            (above("running", 1e-9),),
        ),
    ),
    measure=_both_sides,
    numbers={
        "folded": Label(Both("difference, folded and apart, relative", "并入与不并入的相对差")),
        "others": Label(Both("change of a text without the other texts, training", "去掉其他文本后文本的变化，训练")),
        "running": Label(Both("change of a text without the other texts, inference", "去掉其他文本后文本的变化，推理")),
    },
    setting=Both(
        "The text and seven sentences of other lengths before the middle norm, padding counted as frameworks do. "
        "Inference takes the statistics of the seven sentences. Folded: a random linear layer before it, seed 0, "
        "float64.",
        "该文本和另外七个长度不同的句子在中间一个归一化层之前的激活值，像框架那样计入填充。推理使用七个句子的统计量。"
        "并入：前面接一个随机线性层，种子 0，float64。",
    ),
    because=Both(
        "Images of a batch have one size, and each cell is real; texts have padding, and their statistics differ "
        "from batch to batch. That makes BatchNorm worse there, not impossible: with running averages it computes "
        "each text by itself, whatever its length. LayerNorm cannot be folded away, for its factor differs from "
        "token to token.",
        "同一批图像大小相同，每个位置都是真实数据；文本有填充，各批次的统计量也不同。这使 BatchNorm "
        "在文本上效果较差，但并非不能用：推理时用移动平均，每个文本单独计算，与长度无关。LayerNorm 则无法并入线性层，"
        "因为它的缩放系数对每个 token 都不同。",
    ),
    refuted=Both(
        "A BatchNorm in inference whose numbers for a text change with the texts beside it.",
        "如果推理时的 BatchNorm 会因同批文本不同而改变某个文本的结果，判断就会改变。",
    ),
    formula=r"\gamma \frac{W x - \mu}{\sigma} + \beta = \left(\frac{\gamma}{\sigma} W\right) x + "
    r"\left(\beta - \frac{\gamma \mu}{\sigma}\right) \qquad (\Delta = <folded>)",
    papers=(IOFFE_2015, SHEN_2020),
    see=PageLink("layernorm", {"section": "Another norm"}),
    of=BATCHED,
)

THEME = Theme(
    "batch_norm", Both("BatchNorm", "BatchNorm"), (DIMENSIONS, PADDING, LATE, SMALL, LARGE, RUNNING, BOTH_SIDES)
)
