"""Architecture: blocks, residuals, FFN and shared weights. Questions 83 to 91."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from inspector import activations, block, feedforward, mixing, normalization, sharing
from inspector.probe import record_head
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, below, equal, near
from inspector.questions.record.kinds import ANY, ENCODER, ENCODER_DECODER, PREDICTS
from inspector.questions.record.measured import OTHERS, RANDOM, SMALL
from inspector.questions.record.papers import (
    AINSLIE_2023,
    DEHGHANI_2019,
    DONG_2021,
    HE_2016,
    HENDRYCKS_2016,
    LAN_2020,
    PRESS_2017,
    PRESS_2022,
    RAFFEL_2020,
    SHAZEER_2019,
    SHAZEER_2020,
    SU_2021,
    VASWANI_2017,
    XIONG_2020,
    ZHANG_2019,
)
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    LongExperiment,
    Measurement,
    PageLink,
    Question,
    StoredRun,
    Theme,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.inside import blocks_of, several_tokens, stages_of, stream_of
from inspector.questions.themes.trained import courses_drawn, ends, last_loss, train_both
from models.training.tiny.experiments import Experiment, Switches

ROUNDING = 1e-3  # relative to the largest entry of a state


def _encoder(subject: Subject) -> Measurement:
    trace, blocks, stream = subject.trace, blocks_of(subject), stream_of(subject)
    layers = blocks.of(stream)
    stages = stages_of(subject)
    norms = [norm for norm in trace.norms if norm.layer is not None and norm.stream == stream]
    normed = {(norm.layer, norm.part): norm.input for norm in norms if norm.placement == "post"}
    leaves = {layer.layer: layer.leaves for layer in layers}
    off = [0.0]
    for stage in stages:
        # behind a sum stands its norm or, in a layer without one, the next layer
        end = normed.get((stage.layer, stage.part), leaves[stage.layer] if stage.part == "ffn" else None)
        if end is not None:
            off.append(float(np.abs(stage.before + stage.added - end).max() / np.abs(end).max()))
    table = block.additions(stages)
    return Measurement(
        {
            "layers": float(len(layers)),
            "ordered": float(
                sum([addition.part for addition in layer.additions] == ["attention", "ffn"] for layer in layers)
                / len(layers)
            ),
            "off": max(off),
            "after": sum(norm.placement == "post" for norm in norms) / max(len(norms), 1),
        },
        Bars(
            [f"{row.layer} {'MHA' if row.part == 'attention' else 'FFN'}" for row in table.itertuples()],
            table["share"].tolist(),
            Both("length of what is added / length of the stream", "所加向量的长度 / 残差流的长度"),
            parts=["attention" if part == "attention" else "ffn" for part in table["part"]],
        ),
    )


ENCODER_BLOCK = Question(
    83,
    asked=Both("What is an encoder made of?", "编码器由哪些部分组成？"),
    claim=Both(
        "An encoder is a stack of N layers that are built alike, each with multi-head attention and an FFN, each "
        "followed by “add & norm”.",
        "编码器由 N 个结构相同的层堆叠而成，每层包含多头注意力和前馈网络，每个子层之后都有“残差相加与归一化”。",
    ),
    parts=(
        ClaimPart(
            Both("Each layer has attention, then an FFN.", "每层先是注意力，再是前馈网络。"),
            (at_least("layers", 1), equal("ordered", 1)),
        ),
        ClaimPart(
            Both("What a sublayer gives is added to what went in.", "子层的输出加到它的输入上。"),
            (below("off", ROUNDING),),
        ),
        ClaimPart(
            Both("The norm stands after the sum (post-norm).", "归一化在相加之后（Post-LN）。"),
            (equal("after", 1),),
        ),
    ),
    measure=_encoder,
    numbers={
        "layers": Label(Both("layers", "层数")),
        "ordered": Label(Both("layers with attention, then FFN", "先注意力后 FFN 的层"), "%"),
        "off": Label(Both("largest miss when a layer is put together from its parts", "由各部分重算一层时的最大误差")),
        "after": Label(Both("norms that stand after the sum", "位于相加之后的归一化"), "%"),
    },
    setting=Both(
        "What went into each sublayer and what it gave, summed up, beside what was seen behind the sum; all tokens, "
        "relative to the largest entry.",
        "每个子层的输入与输出之和，与相加之后实际记录到的值相比；对所有 token 比较，误差相对于最大分量。",
    ),
    because=Both(
        "This is the layer of 2017, with N = 6. Most models since then put the norm before each sublayer (pre-norm) "
        "and one more at the end. Variants change one part and keep the picture: positions (RoPE, ALiBi, T5), norm "
        "(RMSNorm), activation (SwiGLU), shared keys and values (MQA, GQA), shared layers (ALBERT). The Lab has "
        "them to try.",
        "这是 2017 年论文的结构，N = 6。此后多数模型把归一化放到子层之前（Pre-LN），最后再加一个。"
        "各种变体只改一个部件，结构不变："
        "位置编码（RoPE、ALiBi、T5）、归一化（RMSNorm）、激活函数（SwiGLU）、共享 K/V（MQA、GQA）、跨层共享（ALBERT）。"
        "这些都可以在 Lab 中试。",
    ),
    refuted=Both(
        "A layer whose output is not its input and the two additions, normed.",
        "如果某层的输出不是输入加两个子层输出再归一化的结果，判断就会改变。",
    ),
    formula=r"x \leftarrow \mathrm{LN}(x + \mathrm{MHA}(x)), \quad x \leftarrow \mathrm{LN}(x + \mathrm{FFN}(x)), "
    r"\quad N = <layers>",
    papers=(
        VASWANI_2017,
        XIONG_2020,
        SU_2021,
        PRESS_2022,
        RAFFEL_2020,
        ZHANG_2019,
        SHAZEER_2020,
        SHAZEER_2019,
        AINSLIE_2023,
        LAN_2020,
    ),
    see=PageLink("block", {"section": "One token's way"}),
    of=ENCODER,
)


def _decoder(subject: Subject) -> Measurement:
    trace, blocks = subject.trace, blocks_of(subject)
    layers = blocks.of("decoder")
    if not layers:
        raise UnanswerableError(
            f"The decoder's layers of {subject.loaded.card.id} were not seen.",
            f"没有看到 {subject.loaded.card.id} 解码器的各层。",
        )
    future = max(
        float(np.triu(trace.attention(layer=site.layer, stream="decoder", call=site.call), 1).max())
        for site in trace.sites_of("decoder")
    )
    crossing = trace.record_of(layers[0].layer, "cross")
    keys = [matrix for role, matrix in layers[0].matrices if role == "k"]
    if len(keys) < 2:
        raise UnanswerableError(
            f"W_K of the cross-attention of {subject.loaded.card.id} is not a matrix of its own.",
            f"{subject.loaded.card.id} 交叉注意力的 W_K 不是单独的矩阵。",
        )
    ends = [norm for norm in trace.norms if norm.stream == "encoder"]
    read = blocks.of("encoder")[-1].leaves
    if ends and ends[-1].layer is None and ends[-1].part == "final":
        read = ends[-1].output
    made = keys[-1].times(torch.tensor(np.asarray(read)), subject.loaded.network).detach().float().cpu().numpy()
    seen = crossing.key.float().cpu().numpy().transpose(1, 0, 2).reshape(len(made), -1)
    if made.shape != seen.shape:
        raise UnanswerableError(
            f"The keys of the cross-attention of {subject.loaded.card.id} are not laid side by side.",
            f"{subject.loaded.card.id} 交叉注意力各头的 K 没有依次排列。",
        )
    return Measurement(
        {
            "ordered": float(
                sum(
                    [addition.part for addition in layer.additions] == ["attention", "cross", "ffn"] for layer in layers
                )
                / len(layers)
            ),
            "future": future,
            "keys": float(np.abs(made - seen).max() / np.abs(seen).max()),
            "queries": float(len(crossing.site.queries)),
            "written": float(len(trace.read_by("decoder").tokens)),
        },
        Heatmap(
            trace.attention(layer=layers[0].layer, stream="cross").mean(axis=0),
            crossing.site.queries,
            crossing.site.keys,
            row_title=Both("query, of the decoder", "查询（解码器）"),
            column_title=Both("key, of the encoder", "键（编码器）"),
            quantity=Both("weight in the first layer, mean of heads", "第一层权重，各头平均"),
        ),
    )


DECODER_BLOCK = Question(
    84,
    asked=Both("What does a decoder's layer read from the encoder?", "解码器的每一层如何用到编码器的输出？"),
    claim=Both(
        "A decoder's layer has masked self-attention, cross-attention and an FFN. In cross-attention the queries come "
        "from the decoder, keys and values from the encoder.",
        "解码器每层包含带掩码的自注意力、交叉注意力和前馈网络；交叉注意力中 Q 来自解码器，K、V 来自编码器。",
    ),
    parts=(
        ClaimPart(
            Both("A layer is self-attention, cross-attention, FFN.", "每层依次是自注意力、交叉注意力、前馈网络。"),
            (equal("ordered", 1),),
        ),
        ClaimPart(
            Both("Self-attention gives later tokens no weight.", "自注意力给后面 token 的权重为 0。"),
            (equal("future", 0),),
        ),
        ClaimPart(
            Both(
                "Keys of cross-attention are the encoder's last states times W_K.",
                "交叉注意力的 K 是编码器最后的输出乘以 W_K。",
            ),
            (below("keys", ROUNDING),),
        ),
        ClaimPart(
            Both(
                "Cross-attention has a query for each token of the decoder.",
                "交叉注意力中，解码器的每个 token 各有一个查询。",
            ),
            (equal("queries", "written"),),
        ),
    ),
    measure=_decoder,
    numbers={
        "ordered": Label(
            Both(
                "layers of self-attention, cross-attention, FFN, in this order", "依次为自注意力、交叉注意力、FFN 的层"
            ),
            "%",
        ),
        "future": Label(Both("largest weight of self-attention on a later token", "自注意力给后面 token 的最大权重")),
        "keys": Label(Both("difference of the keys from the encoder's states times W_K", "K 与编码器输出乘 W_K 之差")),
        "queries": Label(Both("queries of cross-attention", "交叉注意力的查询数")),
        "written": Label(Both("tokens that the decoder read", "解码器读入的 token 数")),
    },
    setting=Both(
        "The text as the source, and what the model writes for it as the target. Keys: of the first decoder layer, "
        "relative to their largest entry.",
        "文本作源文，模型自己生成的译文作目标。K：解码器第一层，误差相对于最大分量。",
    ),
    because=Both(
        "The sides are easily mixed up. The one who asks is the decoder, for it has a token to write; what is asked "
        "is the source. The map is therefore target × source, and square only by chance.",
        "两边容易弄反。提问的是解码器，因为要写下一个 token 的是它；被查询的是源文。"
        "所以注意力矩阵是目标长度 × 源文长度，一般不是方阵。",
    ),
    refuted=Both(
        "A decoder whose cross-attention keys are not made from the encoder's last states.",
        "如果交叉注意力的 K 不是由编码器最后的输出算出的，判断就会改变。",
    ),
    formula=r"Q = X_{dec} W_Q, \quad K = X_{enc} W_K, \quad V = X_{enc} W_V: \ <keys>",
    papers=(VASWANI_2017,),
    see=PageLink("block", {"section": "One token's way"}),
    of=ENCODER_DECODER,
)

RESIDUAL = Experiment(seeds=2, a=Switches(), b=Switches(residual=False))


def _residual(subject: Subject) -> Measurement:
    table = subject.once("untrained depth torch", lambda: normalization.through_depth(initialisation="torch"))
    first, last = (table[table["layer"] == at].set_index("stack") for at in (-1, normalization.depth.LAYERS - 1))
    ratio = first["gradient"] / last["gradient"]
    names = {
        "pre-norm": Both("residual and norm", "残差 + 归一化"),
        "post-norm, no residual": Both("norm alone", "只有归一化"),
        "no norm, no residual": Both("neither", "都没有"),
    }
    return Measurement(
        {
            "neither": float(ratio["no norm, no residual"]),
            "both": float(ratio["pre-norm"]),
            "norm": float(ratio["post-norm, no residual"]),
            "alike": float(last["cosine"]["post-norm, no residual"]),
            "apart": float(last["cosine"]["pre-norm"]),
        },
        Lines(
            [
                Series(
                    name,
                    part["layer"].tolist(),
                    part["gradient"].tolist(),
                    part="residual" if stack == "pre-norm" else "norm",
                    dashed=stack != "pre-norm",
                )
                for stack, name in names.items()
                for part in [table[table["stack"] == stack]]
            ],
            x_title=Both("layer", "层"),
            y_title=Both("length of the gradient", "梯度的长度"),
            log_y=True,
        ),
    )


def _residual_whole(subject: Subject, watch: Watch) -> Measurement:
    courses = train_both(RESIDUAL, watch)
    with_residual, without_residual = (float(np.mean(side)) for side in ends(courses, last_loss))
    names = Both("with residual", "有残差"), Both("without residual", "无残差")
    return Measurement({"with": with_residual, "without": without_residual}, courses_drawn(courses, names))


RESIDUALS = Question(
    85,
    reads_text=False,
    asked=Both("What are residual connections for?", "残差连接有什么用？"),
    claim=Both(
        "Residual connections stop gradients from vanishing; without them a deep Transformer cannot be trained.",
        "残差连接防止梯度消失，没有它深层 Transformer 就训练不起来。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Without residual and norm the gradient vanishes on its way to the first layer.",
                "既无残差又无归一化时，梯度传不到第一层。",
            ),
            (below("neither", 1e-6),),
        ),
        ClaimPart(Both("With both the gradient arrives.", "两者都有时，梯度能传到。"), (above("both", 0.05),)),
        ClaimPart(
            Both(
                "Without the residual the gradient vanishes, norm or not.", "没有残差时，即使有归一化，梯度也会消失。"
            ),
            (below("norm", 1e-6),),
        ),
        ClaimPart(
            Both(
                "Without the residual all tokens become alike; with it they stay apart.",
                "没有残差，各 token 会变得一模一样；有残差则保持差别。",
            ),
            (above("alike", 0.999), below("apart", 0.95)),
            role="mechanism",
        ),
    ),
    measure=_residual,
    numbers={
        "neither": Label(
            Both(
                "gradient at the input / at the last layer, neither residual nor norm",
                "输入处与最后一层的梯度之比，无残差也无归一化",
            )
        ),
        "both": Label(
            Both(
                "gradient at the input / at the last layer, residual and norm",
                "输入处与最后一层的梯度之比，残差 + 归一化",
            )
        ),
        "norm": Label(
            Both("gradient at the input / at the last layer, norm alone", "输入处与最后一层的梯度之比，只有归一化")
        ),
        "alike": Label(
            Both("cosine of two tokens after 24 layers, norm alone", "24 层后两个 token 的余弦，只有归一化")
        ),
        "apart": Label(
            Both("cosine of two tokens after 24 layers, residual and norm", "24 层后两个 token 的余弦，残差 + 归一化")
        ),
    },
    setting=Both(
        "Untrained encoders of 24 layers, d = 32, 8 texts of 16 random tokens, float64, seed 0. What only a training "
        "shows is in the whole run.",
        "未训练的 24 层编码器，d = 32，8 个文本各 16 个随机 token，float64，种子 0。只有训练才能看出的结果，"
        "见完整实验。",
    ),
    because=Both(
        "x + f(x) has the derivative I + J, so a product of many layers keeps the I. A norm rescales and keeps "
        "gradients alive by itself; what it cannot keep is the difference between tokens, which attention averages "
        "away. That residuals also stop overfitting is said without a measurement.",
        "x + f(x) 的导数是 I + J，多层相乘仍保留 I。归一化会重新缩放，单靠它梯度也不会消失；"
        "它留不住的是 token 之间的差别，因为注意力会把它们平均掉。至于“残差能防止过拟合”，并没有实验依据。",
    ),
    refuted=Both(
        "A deep stack with neither whose gradient arrives, or one without residual whose tokens stay apart.",
        "如果两者都没有的深层网络梯度也能传到，或者没有残差而 token 仍有差别，判断就会改变。",
    ),
    formula=r"\frac{\partial (x + f(x))}{\partial x} = I + J, \qquad \frac{\|g_{0}\|}{\|g_{24}\|}: "
    r"<both>, \ <norm>, \ <neither>",
    papers=(HE_2016, DONG_2021, VASWANI_2017),
    see=PageLink("layernorm", {"section": "Pre-norm or post-norm"}),
    whole=LongExperiment(
        run=_residual_whole,
        about=Both(
            "The Lab's Transformer learns to write 8 digits in reverse, 300 steps, with residual and without, two "
            "seeds; about 10 seconds on one core.",
            "用 Lab 的 Transformer 学习把 8 个数字倒过来，300 步，有残差和无残差，各两个种子；单核约 10 秒。",
        ),
        parts=(
            ClaimPart(
                Both("Without the residual it learns worse.", "没有残差时学得更差。"),
                (above("without", "with", times=1.1),),
            ),
            ClaimPart(
                Both("Without the residual it does not learn at all.", "没有残差时完全学不会。"),
                (above("without", 2.2),),
            ),
        ),
        numbers={
            "with": Label(Both("last loss with residual", "有残差的最终损失"), "nat"),
            "without": Label(Both("last loss without residual", "无残差的最终损失"), "nat"),
        },
        stored=StoredRun(
            {"with": 0.00653, "without": 1.427},
            command="python -m inspector.questions --only 85 --whole",
            seeds="0, 1",
            date="2026-11-23",
        ),
    ),
)


def _mixing(subject: Subject) -> Measurement:
    several_tokens(subject)
    trace, blocks, stream, network = subject.trace, blocks_of(subject), stream_of(subject), subject.loaded.network
    record = next((ffn for ffn in blocks.ffns if ffn.stream == stream), None)
    if record is None:
        raise UnanswerableError(
            f"The FFN of {subject.loaded.card.id} is not shown: it is made of experts, or not known.",
            f"看不到 {subject.loaded.card.id} 的 FFN：它由多个专家组成，或者结构未知。",
        )
    site = trace.sites_of(stream)[0]
    roles = {role for role, _ in next(layer for layer in blocks.of(stream) if layer.layer == site.layer).matrices}
    if not {"v", "out"} <= roles:
        raise UnanswerableError(
            f"W_V and W_O of {subject.loaded.card.id} are not matrices of their own, so none is followed.",
            f"{subject.loaded.card.id} 的 W_V 和 W_O 不是单独的矩阵，无法跟踪。",
        )
    ffn = mixing.ffn(blocks, network, stream=stream, layer=record.layer, position=0)
    attention = mixing.attention(trace, blocks, network, stream=stream, layer=site.layer, position=0)
    return Measurement(
        {
            "ffn_tokens": float(ffn.tokens),
            "ffn_features": float(ffn.dimensions),
            "attention_tokens": float(attention.tokens),
            "attention_features": float(attention.dimensions),
        },
        Bars(
            [
                Both("FFN: tokens", "FFN：token"),
                Both("attention: tokens", "注意力：token"),
                Both("FFN: features", "FFN：特征"),
                Both("attention: features", "注意力：特征"),
            ],
            [ffn.tokens, attention.tokens, ffn.dimensions, attention.dimensions],
            Both("numbers that change with one number of one token", "改动一个 token 的一个分量后，受影响的个数"),
            parts=["ffn", "attention", "ffn", "attention"],
            log=True,
        ),
    )


MIXING = Question(
    86,
    asked=Both("Does attention mix tokens and the FFN features?", "注意力混合 token、FFN 混合特征，对吗？"),
    claim=Both(
        "Attention mixes information between tokens, the FFN between the features of one token.",
        "注意力负责 token 之间的信息混合，前馈网络负责每个 token 内部的特征混合。",
    ),
    parts=(
        ClaimPart(
            Both("The FFN leaves all other tokens as they are.", "FFN 不影响其他 token。"),
            (equal("ffn_tokens", 1),),
        ),
        ClaimPart(Both("The FFN mixes features.", "FFN 混合特征。"), (above("ffn_features", 1),)),
        ClaimPart(Both("Attention mixes tokens.", "注意力混合 token。"), (above("attention_tokens", 1),)),
        ClaimPart(
            Both("Attention leaves features unmixed.", "注意力不混合特征。"),
            (equal("attention_features", 1),),
        ),
    ),
    measure=_mixing,
    numbers={
        "ffn_tokens": Label(Both("tokens that change, FFN", "受影响的 token 数，FFN")),
        "attention_tokens": Label(Both("tokens that change, attention", "受影响的 token 数，注意力")),
        "ffn_features": Label(Both("features that change, FFN", "受影响的特征数，FFN")),
        "attention_features": Label(Both("features that change, attention", "受影响的特征数，注意力")),
    },
    setting=Both(
        "The first number of the first token's input is changed, in the first layer; attention's weights are kept, "
        "and the change goes through W_V, the sum and W_O.",
        "在第一层改动首个 token 输入的第一个分量；注意力权重保持不变，变化经过 W_V、加权求和与 W_O。",
    ),
    because=Both(
        "The weights of attention are one number for a whole vector, which is why it is said to mix tokens alone. W_V "
        "and W_O are full matrices: they mix features in the same step. What the FFN adds is the activation function.",
        "一个注意力权重作用于整个向量，所以人们说它只混合 token。但 W_V、W_O 都是满矩阵，同时也混合了特征。"
        "FFN 额外带来的是激活函数的非线性。",
    ),
    refuted=Both(
        "An FFN that moves another token, or an attention that keeps features apart.",
        "如果 FFN 影响了别的 token，或者注意力没有混合特征，判断就会改变。",
    ),
    formula=r"\mathrm{FFN}(x_i) = \phi(x_i W_1 + b_1) W_2 + b_2, \qquad z_i = \sum_j A_{ij}\, x_j W_V W_O",
    papers=(VASWANI_2017, HENDRYCKS_2016),
    see=PageLink("block", {"section": "FFN"}),
    of=ANY,
)


def _matrices(subject: Subject, stream: str) -> list[set[int]]:
    network = subject.loaded.network
    return [
        {network.get_parameter(matrix.name).data_ptr() for _, matrix in layer.matrices}
        for layer in blocks_of(subject).of(stream)
    ]


def _layers(subject: Subject) -> Measurement:
    matrices = _matrices(subject, stream_of(subject))
    if len(matrices) < 2:
        raise UnanswerableError(
            f"{subject.loaded.card.id} has one layer, which has nothing to share with.",
            f"{subject.loaded.card.id} 只有一层，没有可以共享的对象。",
        )
    pair = subject.within(ENCODER_DECODER)
    encoder, decoder = (set().union(*_matrices(pair, stream)) for stream in ("encoder", "decoder"))
    model = nn.Transformer(batch_first=True, device="meta")
    return Measurement(
        {
            "layers": float(len(matrices)),
            "distinct": float(len({frozenset(layer) for layer in matrices})),
            "common": float(len(encoder & decoder)),
            "torch": float(sum(weight.numel() for weight in model.parameters())),
            "albert": float(
                sum(weight.numel() for weight in model.parameters())
                - 5 * sum(weight.numel() for weight in [*model.encoder.layers[0].parameters()])
                - 5 * sum(weight.numel() for weight in [*model.decoder.layers[0].parameters()])
            ),
        },
        Bars(
            [Both("layers", "层"), Both("sets of matrices", "不同的矩阵组")],
            [len(matrices), len({frozenset(layer) for layer in matrices})],
            Both("count", "个数"),
            parts=["ffn", "ffn"],
        ),
    )


LAYERS = Question(
    87,
    reads_text=False,
    asked=Both("Do the layers of a Transformer share their weights?", "Transformer 各层共享参数吗？"),
    claim=Both(
        "All layers of the encoder share their weights, and the decoder shares them with the encoder.",
        "编码器所有层共享参数，解码器也与编码器共享参数。",
    ),
    parts=(
        ClaimPart(
            Both(
                "All layers of a stack are one set of matrices.", "同一个堆叠（编码器或解码器）中的各层共用一组矩阵。"
            ),
            (equal("distinct", 1),),
        ),
        ClaimPart(
            Both("Decoder and encoder have layers' matrices in common.", "解码器与编码器的层有共用的矩阵。"),
            (above("common", 0),),
        ),
    ),
    measure=_layers,
    numbers={
        "layers": Label(Both("layers", "层数")),
        "distinct": Label(Both("different sets of matrices among the layers", "各层中不同的矩阵组数")),
        "common": Label(Both("matrices that encoder's and decoder's layers share", "编码器层与解码器层共用的矩阵数")),
        "torch": Label(Both("parameters of torch's nn.Transformer", "torch 的 nn.Transformer 的参数量"), of=OTHERS),
        "albert": Label(
            Both(
                "parameters of torch's nn.Transformer if its layers were shared",
                "若各层共享，torch 的 nn.Transformer 的参数量",
            ),
            of=OTHERS,
        ),
    },
    setting=Both(
        "The tensors that each layer multiplied by, told apart by where they lie in memory. Encoder and decoder: of "
        "the translator where the model has no two stacks.",
        "各层用到的张量，按内存地址区分。编码器与解码器：若该模型不是编码器-解码器，则取自翻译模型（translator）。",
    ),
    because=Both(
        "“Identical layers” in the paper means that they are built alike, not that they hold the same numbers. "
        "Sharing exists, in the Universal Transformer and in ALBERT: fewer parameters, the same work.",
        "论文说的“identical layers”是结构相同，不是数值相同。共享参数的做法确实存在，"
        "如 Universal Transformer 和 ALBERT：参数变少，计算量不变。",
    ),
    refuted=Both(
        "A model whose layers are one set of tensors: ALBERT is one.",
        "如果模型各层是同一组张量，说法就成立，例如 ALBERT。",
    ),
    formula=r"L = <layers>, \quad |\{\theta_1, \dots, \theta_L\}| = <distinct>",
    papers=(VASWANI_2017, DEHGHANI_2019, LAN_2020),
    see=PageLink("block", {"section": "Sharing"}),
    of=ANY,
)


def _vocabulary_matrices(subject: Subject) -> list[torch.Tensor]:
    """List every matrix with a row for each token of the vocabulary, once for each use."""
    pieces = len(subject.loaded.tokenizer)
    return [
        parameter
        for _, parameter in subject.loaded.network.named_parameters(remove_duplicate=False)
        if parameter.ndim == 2 and parameter.shape[0] >= pieces and parameter.shape[0] > parameter.shape[1]
    ]


def _scripts(subject: Subject) -> dict[str, float]:
    """The shares of the vocabulary's pieces that are written in the source's script alone, the target's, or neither.

    A piece counts for the scripts of its letters; the scripts are those of the model's own example.
    """
    trace = subject.trace
    assert trace.target is not None
    source, target = (_written_in(tokens) for tokens in (trace.tokens, trace.target.tokens))
    pieces = [_written_in([piece]) for piece in subject.loaded.tokenizer.get_vocab()]
    foreign = sum(bool(scripts & source) and not scripts & target for scripts in pieces)
    return {"foreign": foreign / len(pieces), "common": sum(not scripts for scripts in pieces) / len(pieces)}


def _written_in(tokens: Iterable[str]) -> set[str]:
    """The scripts of the letters of tokens, by the first word of a letter's name: LATIN, CJK."""
    return {
        unicodedata.name(letter, "").partition(" ")[0]
        for token in tokens
        if not token.startswith("[")
        for letter in token
        if letter.isalpha()
    }


def _embeddings(subject: Subject) -> Measurement:
    matrices = _vocabulary_matrices(subject)
    if len(matrices) < 2:
        raise UnanswerableError(
            f"{subject.loaded.card.id} has no embeddings of two sides that were found by their size.",
            f"没有按大小找到 {subject.loaded.card.id} 两侧的词嵌入。",
        )
    tensors = {matrix.data_ptr(): matrix.numel() for matrix in matrices}
    whole = sum(weight.numel() for weight in subject.loaded.network.parameters())
    unshared = whole + sum(matrix.numel() for matrix in matrices) - sum(tensors.values())
    return Measurement(
        {
            **_scripts(subject),
            "places": float(len(matrices)),
            "tensors": float(len(tensors)),
            "vocabularies": float(len({len(matrix) for matrix in matrices})),
            "parameters": float(whole),
            "unshared": float(unshared),
        },
        Bars(
            [Both("shared", "共享"), Both("not shared", "不共享")],
            [whole, unshared],
            Both("parameters of the model", "模型的参数量"),
            parts=["embedding", "embedding"],
        ),
    )


EMBEDDINGS = Question(
    88,
    reads_text=False,
    asked=Both("Which weights are shared in the Transformer?", "Transformer 中哪些权重是共享的？"),
    claim=Both(
        "Encoder and decoder share the embedding, and the decoder's embedding is the matrix before the softmax too.",
        "编码器与解码器共享词嵌入，解码器的词嵌入又与输出层（FC）共享权重。",
    ),
    parts=(
        ClaimPart(
            Both("All these places use one tensor.", "这几处用的是同一个张量。"),
            (above("places", 1), equal("tensors", 1)),
        ),
        ClaimPart(
            Both("Both languages need one vocabulary for that.", "为此两种语言要用同一个词表。"),
            (equal("vocabularies", 1),),
        ),
        ClaimPart(
            Both("Sharing saves a good part of the parameters: 10 % or more.", "共享能省下不少参数：至少 10%。"),
            (above("unshared", "parameters", times=1.1),),
        ),
        ClaimPart(
            Both(
                "But the softmax then scores pieces that the target's language never writes: a quarter or more.",
                "但 softmax 也要给目标语言从不使用的子词打分：至少四分之一。",
            ),
            (at_least("foreign", 0.25),),
            role="limit",
        ),
    ),
    measure=_embeddings,
    numbers={
        "places": Label(
            Both("places where a matrix with a row for each token is used", "用到词表矩阵（每个 token 一行）的地方")
        ),
        "tensors": Label(
            Both("different tensors among the matrices with a row for each token", "词表矩阵中不同的张量")
        ),
        "vocabularies": Label(
            Both("different numbers of rows of the matrices with a row for each token", "词表矩阵中不同的行数")
        ),
        "parameters": Label(Both("parameters", "参数量")),
        "unshared": Label(Both("parameters of the model if no matrix were shared", "若不共享，模型的参数量")),
        "foreign": Label(Both("pieces in the script of the source alone", "只用源语言文字书写的子词"), "%"),
        "common": Label(Both("pieces without letters: marks and figures", "不含字母和汉字的子词：标点和数字"), "%"),
    },
    setting=Both(
        "The model's own parameters: those with at least as many rows as the tokenizer has pieces, told apart by "
        "where they lie in memory. Scripts: those of the letters of the model's example and its translation. This "
        "model was built with sharing; what sharing does to training is not measured.",
        "模型自己的参数：行数不少于词表大小的矩阵，按内存地址区分。文字：取该模型的例句及其译文所用的文字。"
        "这个模型建造时就共享；共享对训练的影响没有测量。",
    ),
    because=Both(
        "A joint vocabulary makes the softmax larger, for words of both languages stand in it: sharing saves "
        "parameters, not work. Where scripts differ much, few pieces are really common.",
        "共用词表会让 softmax 变大，因为两种语言的词都在里面：省的是参数，不是计算。文字差别大时，"
        "真正共用的子词并不多。",
    ),
    refuted=Both(
        "An encoder-decoder with a tensor of its own for each side.",
        "如果编码器-解码器两边各有自己的张量，说法对该模型就不成立。",
    ),
    formula=r"E_{src} = E_{tgt} = W_{out}^\top \in \mathbb{R}^{v \times d}: \quad <places> \to <tensors>",
    papers=(VASWANI_2017, PRESS_2017),
    see=PageLink("block", {"section": "Sharing"}),
    of=ENCODER_DECODER,
)


def _tied(subject: Subject) -> Measurement:
    head = subject.once("head", lambda: record_head(subject.loaded, subject.trace))
    network, name = subject.loaded.network, blocks_of(subject).embedding
    if not name:
        raise UnanswerableError(
            f"The embedding of {subject.loaded.card.id} was not seen.",
            f"没有看到 {subject.loaded.card.id} 的词嵌入。",
        )
    embedding, output = network.get_parameter(name), head.matrix.weight(network)
    return Measurement(
        {
            "rows": float(embedding.shape[0]),
            "head_rows": float(output.shape[1]),
            "columns": float(embedding.shape[1]),
            "head_columns": float(output.shape[0]),
            "tensors": float(len({embedding.data_ptr(), output.data_ptr()})),
        }
    )


TIED = Question(
    89,
    reads_text=False,
    asked=Both(
        "Can embedding and output matrix be shared as they are?", "词嵌入与输出层的权重形状一样，能直接共享吗？"
    ),
    claim=Both(
        "Embedding and output layer are both (v, d), so that one matrix can serve both.",
        "词嵌入和输出层（FC）的权重都是 (v, d)，所以可以直接共享。",
    ),
    parts=(
        ClaimPart(
            Both("Both have v rows and d columns.", "两者都是 v 行 d 列。"),
            (equal("rows", "head_rows"), equal("columns", "head_columns")),
        ),
        ClaimPart(Both("In this model they are one tensor.", "在该模型中它们是同一个张量。"), (equal("tensors", 1),)),
    ),
    measure=_tied,
    numbers={
        "rows": Label(Both("rows of the embedding", "词嵌入的行数")),
        "head_rows": Label(Both("number of tokens that the output layer scores", "输出层的 token 数")),
        "columns": Label(Both("width of the embedding", "词嵌入的宽度")),
        "head_columns": Label(Both("width that the output layer takes", "输出层的输入宽度")),
        "tensors": Label(Both("different tensors for embedding and output layer", "词嵌入与输出层用到的不同张量")),
    },
    setting=Both(
        "The table from which the tokens were looked up, and the matrix that made the logits, as they were seen in "
        "the run.",
        "运行时用来查 token 的词嵌入表，以及算出 logits 的矩阵。",
    ),
    because=Both(
        "The embedding multiplies a one-hot row (v) into d, the output a state (d) into v: one is the other's "
        "transpose, and nn.Linear(d, v) stores its weight as (v, d) anyway. Large models often keep two: it can be "
        "done, it need not.",
        "嵌入把 v 维 one-hot 变成 d 维，输出把 d 维变成 v 维，互为转置；而 nn.Linear(d, v) 的权重本来就存成 (v, d)。"
        "大模型常常不共享：可以共享，不等于必须共享。",
    ),
    refuted=Both(
        "A head whose matrix has another size than the embedding's.",
        "如果输出层矩阵与词嵌入大小不同，判断就会改变。",
    ),
    formula=r"\mathrm{logits} = h E^\top, \quad E \in \mathbb{R}^{<rows> \times <columns>}",
    papers=(PRESS_2017, VASWANI_2017),
    see=PageLink("block", {"section": "Sharing"}),
    of=PREDICTS,
)


def _closest(subject: Subject) -> Measurement:
    head = subject.once("head", lambda: record_head(subject.loaded, subject.trace))
    nearest = subject.once("nearest row", lambda: sharing.nearest(head, subject.loaded.network))
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(1000, 64))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    def share(rows: NDArray[np.float64]) -> float:
        products = rows @ rows.T
        return float((products.argmax(1) == ((rows**2).sum(1) - 2 * products).argmin(1)).mean())

    lengths = np.exp(draw.uniform(0, 3, size=(1000, 1)))
    return Measurement(
        {
            "equal": share(rows),
            "unequal": share(rows * lengths),
            "own": nearest.unscaled / nearest.positions,
            "shortest": nearest.shortest,
            "longest": nearest.longest,
        },
        Bars(
            [
                Both("rows of one length", "各行等长"),
                Both("rows of any length", "各行不等长"),
                Both("this model", "该模型"),
            ],
            [100 * share(rows), 100 * share(rows * lengths), 100 * nearest.unscaled / nearest.positions],
            Both("choices that are the nearest row, %", "选中的行恰好最近的比例，%"),
            parts=["embedding"] * 3,
        ),
    )


CLOSEST = Question(
    90,
    mixed="conditions",
    asked=Both(
        "Does the output layer choose the closest row of the embedding?",
        "输出层选中的就是与隐藏状态最接近的词向量吗？",
    ),
    claim=Both(
        "With shared weights the output layer finds the token whose vector is closest to the state.",
        "共享权重时，输出层（FC）就是在找与隐藏状态最接近的词向量。",
    ),
    parts=(
        ClaimPart(Both("With rows of one length it does.", "各行等长时确实如此。"), (equal("equal", 1),)),
        ClaimPart(Both("With rows of any length it does so too.", "各行不等长时也如此。"), (equal("unequal", 1),)),
        ClaimPart(
            Both("In this model it does on this text.", "该模型在该文本上如此。"), (near("own", 1, within=0.001),)
        ),
    ),
    measure=_closest,
    numbers={
        "equal": Label(
            Both("choices that are the nearest row, rows of one length", "选中的行就是最近的行的比例，各行等长"),
            "%",
            of=RANDOM,
        ),
        "unequal": Label(
            Both(
                "choices that are the nearest row, rows of lengths 1 to 20", "选中的行就是最近的行的比例，长度 1 到 20"
            ),
            "%",
            of=RANDOM,
        ),
        "own": Label(Both("choices that are the nearest row, this model", "选中的行就是最近的行的比例，该模型"), "%"),
        "shortest": Label(Both("length of this model's shortest row", "该模型最短一行的长度")),
        "longest": Label(Both("length of this model's longest row", "该模型最长一行的长度")),
    },
    setting=Both(
        "Random: 1,000 rows of width 64, seed 0, each of which is the state once; lengths e^u, u from 0 to 3. Model: "
        "all positions of the text, its head without the bias. Nearest is Euclidean.",
        "随机：1000 行，宽 64，种子 0，轮流以每一行作为状态；长度 e^u，u 取 0 到 3。模型：文本的所有位置，"
        "不计输出层偏置。“最近”指欧氏距离。",
    ),
    because=Both(
        "|x − e|² = |x|² − 2 x·e + |e|²: the largest product is the smallest distance where all |e| are equal. A long "
        "row wins products without being near.",
        "|x − e|² = |x|² − 2x·e + |e|²：只有各行等长时，点积最大才等于距离最小。长的行不必接近也能得到大的点积。",
    ),
    refuted=Both(
        "Rows of one length and a state whose largest product is not the nearest row.",
        "如果各行等长，而点积最大的行不是最近的，判断就会改变。",
    ),
    formula=r"\|x - e\|^2 = \|x\|^2 - 2\, x \cdot e + \|e\|^2: \quad <equal>, \ <unequal>",
    papers=(PRESS_2017,),
    see=PageLink("block", {"section": "Sharing"}),
    of=PREDICTS,
)

USUAL = (0.01, 0.1)  # learning rates of plain SGD that people use
WHOLE_RATES, WHOLE_STEPS = (0.001, 0.1, 1.0, 2.0, 3.0, 5.0), 2000


def _relu(subject: Subject) -> Measurement:
    blocks, stream, network = blocks_of(subject), stream_of(subject), subject.loaded.network
    records = [record for record in blocks.ffns if record.stream == stream]
    if not records:
        raise UnanswerableError(
            f"The FFN of {subject.loaded.card.id} is not shown: it is made of experts, or not known.",
            f"看不到 {subject.loaded.card.id} 的 FFN：它由多个专家组成，或者结构未知。",
        )
    ffns = [feedforward.units(record, network) for record in records]
    relu = activations.outputs(records[len(records) // 2], network).set_index("function").loc["relu"]
    dying = subject.once("units dying", lambda: activations.dying(rates=USUAL))["dead"]
    above_zero = torch.linspace(0.01, 100, 200, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.relu(above_zero).sum(), above_zero)
    return Measurement(
        {
            "slope": float(slope.min()),
            "flat": float(relu["flat"]),
            "mean": float(relu["mean"] / relu["deviation"]),
            "usual": float(dying.max()),
            "silent": sum(ffn.silent for ffn in ffns) / sum(ffn.units for ffn in ffns),
        },
        Bars(
            [Both(f"layer {record.layer}", f"第 {record.layer} 层") for record in records],
            [100 * ffn.silent / ffn.units for ffn in ffns],
            Both("units that are above 0 for no token of the text, %", "在该文本上从未大于 0 的单元，%"),
            parts=["ffn"] * len(records),
        ),
    )


def _relu_whole(subject: Subject, watch: Watch) -> Measurement:
    dead = []
    for done, rate in enumerate(WHOLE_RATES):
        watch(done, len(WHOLE_RATES))
        dead.append(float(activations.dying(rates=(rate,), steps=WHOLE_STEPS)["dead"].iloc[0]))
    watch(len(WHOLE_RATES), len(WHOLE_RATES))
    return Measurement(
        {"small": dead[0], "usual": dead[1], "one": dead[2], "largest": dead[-1]},
        Lines(
            (Series("ReLU", list(WHOLE_RATES), [100 * share for share in dead], part="ffn"),),
            x_title=Both("learning rate", "学习率"),
            y_title=Both("dead units, %", "死亡单元，%"),
            log_x=True,
        ),
    )


RELU = Question(
    91,
    asked=Both("What is good and bad about ReLU?", "ReLU 有哪些优缺点？"),
    claim=Both(
        "ReLU does not saturate and is cheap; its outputs are not centred at 0, and up to 40 % of its units die.",
        "ReLU 不会饱和、计算快；但输出不以 0 为中心，而且可能有 40% 的神经元“死亡”。",
    ),
    parts=(
        ClaimPart(Both("For x > 0 its slope is always 1.", "x > 0 时斜率恒为 1。"), (equal("slope", 1),)),
        ClaimPart(
            Both(
                "ReLU saturates nowhere: no slope is 0 on this text.", "ReLU 处处不饱和：在该文本上没有斜率为 0 的点。"
            ),
            (equal("flat", 0),),
        ),
        ClaimPart(
            Both("ReLU's outputs are not centred: their mean is above 0.", "ReLU 的输出不以 0 为中心：均值大于 0。"),
            (above("mean", 0.1),),
        ),
        ClaimPart(
            Both("At a usual learning rate 40 % of the units die.", "在通常的学习率下，40% 的单元会死亡。"),
            (above("usual", 0.3),),
        ),
    ),
    measure=_relu,
    numbers={
        "slope": Label(Both("smallest slope for x > 0", "x > 0 时的最小斜率")),
        "flat": Label(Both("places with slope 0 on this text", "该文本上斜率为 0 的比例"), "%"),
        "mean": Label(Both("mean / deviation of ReLU's outputs", "ReLU 输出的均值 / 标准差")),
        "usual": Label(
            Both(
                "units that die, learning rates 0.01 and 0.1, the larger", "死亡单元的比例，学习率 0.01 和 0.1，取较大"
            ),
            "%",
            of=SMALL,
        ),
        "silent": Label(
            Both("units of this model above 0 for no token of the text", "该模型在该文本上从未大于 0 的单元"), "%"
        ),
    },
    setting=Both(
        "The inputs of the middle layer's activation function on this text are put through ReLU, whatever the model's "
        "own is. Dying: a network with two hidden layers of 128 units, 200 steps of SGD, seed 0, tried on 4,096 "
        "vectors, at the learning rates that people use; larger ones stand under “run it whole”.",
        "把中间一层激活函数的输入送进 ReLU，不管模型自己用的是什么。死亡：两个隐藏层各 128 个单元的网络，SGD 200 步，"
        "种子 0，用 4096 个向量检验；学习率取人们实际使用的，更大的见“完整实验”。",
    ),
    because=Both(
        "A large step can push a unit's bias so low that no input reaches it, and then no gradient does. How many "
        "depends on the learning rate; the often quoted 40 % has no setting with it. A unit that is silent on one "
        "text need not be dead.",
        "一次更新太大，会把单元的偏置压到任何输入都激活不了它的程度，此后也就没有梯度。死多少取决于学习率；"
        "常被引用的“40%”没有说明条件。在一个文本上不激活，并不等于死亡。",
    ),
    refuted=Both(
        "Many dead units at a usual learning rate.",
        "如果通常的学习率下就有很多死亡单元，判断就会改变。",
    ),
    formula=r"\mathrm{ReLU}(x) = \max(0, x), \quad \frac{\mu}{\sigma} = <mean>",
    papers=(VASWANI_2017, HENDRYCKS_2016),
    see=PageLink("block", {"section": "FFN"}),
    of=ANY,
    whole=LongExperiment(
        run=_relu_whole,
        about=Both(
            "The same small network learns for 2,000 steps at six learning rates from 0.001 to 5: about 5 seconds on "
            "one core.",
            "同一个小网络在 0.001 到 5 的六个学习率下各训练 2000 步：单核约 5 秒。",
        ),
        parts=(
            ClaimPart(
                Both("At usual learning rates hardly a unit dies.", "通常的学习率下几乎没有单元死亡。"),
                (below("small", 0.05), below("usual", 0.05)),
            ),
            ClaimPart(
                Both("At the largest most die.", "最大的学习率下多数单元死亡。"),
                (above("largest", 0.5),),
            ),
        ),
        numbers={
            "small": Label(Both("dead units, learning rate 0.001", "死亡单元的比例，学习率 0.001"), "%"),
            "usual": Label(Both("dead units, learning rate 0.1", "死亡单元的比例，学习率 0.1"), "%"),
            "one": Label(Both("dead units, learning rate 1", "死亡单元的比例，学习率 1"), "%"),
            "largest": Label(Both("dead units, learning rate 5", "死亡单元的比例，学习率 5"), "%"),
        },
        stored=StoredRun(
            {"small": 0.0, "usual": 0.0, "one": 0.0, "largest": 0.992},
            command="python -m inspector.questions --only 91 --whole",
            seeds="0",
            date="2026-11-23",
        ),
    ),
)


THEME = Theme(
    "architecture",
    Both("Architecture", "结构"),
    (ENCODER_BLOCK, DECODER_BLOCK, RESIDUALS, MIXING, LAYERS, EMBEDDINGS, TIED, CLOSEST, RELU),
)
