"""Parallel and serial work, and the KV cache. Questions 96 to 102."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd
import torch

from inspector import costs, generating, stepwise
from inspector.costs import decoding
from inspector.questions.record.both import Both
from inspector.questions.record.checks import above, at_most, below, equal, near
from inspector.questions.record.kinds import ENCODER, Kind
from inspector.questions.record.papers import AINSLIE_2023, SHAZEER_2019, VASWANI_2017
from inspector.questions.record.picture import Heatmap, Lines, Series
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
from inspector.questions.themes.costs import counted
from inspector.stepwise import ForcedReading
from inspector.stepwise.timed import Layers

if TYPE_CHECKING:
    from torch import Tensor

STEPS = 8  # tokens of the text that are read step by step, at most
COUNTED_STEPS = 64
TIMED = (32, 128, 512)
NEW_TOKENS = 120
STEP_BY_STEP = Kind(
    lambda loaded: not stepwise.why_not(loaded),
    Both("does not write token by token with a KV cache", "不能借助 KV 缓存逐个 token 生成"),
    ("mini-gpt",),
)


# --- what the questions share --------------------------------------------------------------------------------------


def _tokens(subject: Subject) -> int:
    trace = subject.trace
    return min(STEPS, len(trace.read_by("decoder").tokens))


def _forced(subject: Subject) -> ForcedReading:
    """The text in one pass, with the cache and without it."""
    return subject.once("forced", lambda: stepwise.compare(subject.loaded, subject.trace, tokens=_tokens(subject)))


def _steps(subject: Subject) -> pd.DataFrame:
    """FLOPs and bytes of writing, step by step, from the configuration."""
    loaded = subject.loaded

    def make() -> pd.DataFrame:
        source = len(subject.trace.tokens) if loaded.shape == "encoder-decoder" else None
        return decoding.counted_by_step(
            counted(subject), costs.kv_cache(loaded.config), steps=COUNTED_STEPS, source=source
        )

    return subject.once("steps of writing", make)


def _by_step(table: pd.DataFrame, cached: str, uncached: str, title: Both) -> Lines:
    return Lines(
        (
            Series(Both("with the cache", "有缓存"), table["tokens"].tolist(), table[cached].tolist()),
            Series(Both("without", "无缓存"), table["tokens"].tolist(), table[uncached].tolist(), dashed=True),
        ),
        x_title=Both("tokens so far", "已有 token 数"),
        y_title=title,
        log_y=True,
    )


# --- 96: an RNN waits, a Transformer does not ----------------------------------------------------------------------


def _chain(output: Tensor) -> int:
    """The longest chain of operations that wait for each other, from the input to an output, in autograd's graph."""
    longest: dict[object, int] = {}
    waiting = [output.grad_fn]
    while waiting:
        node = waiting[-1]
        before = (
            [operation for operation, _ in node.next_functions if operation is not None] if node is not None else []
        )
        unvisited = [operation for operation in before if operation not in longest]
        if unvisited:
            waiting += unvisited
        else:
            longest[node] = 1 + max((longest[operation] for operation in before), default=0)
            waiting.pop()
    return longest[output.grad_fn]


def _serial() -> Measurement:
    lengths = (4, 8, 16, 32)
    layers = Layers.make(32)

    def chains(run: Callable[[Tensor], Tensor]) -> list[float]:
        with torch.enable_grad():
            return [float(_chain(run(layers.text(tokens)).sum())) for tokens in lengths]

    lstm, block = chains(layers.lstm_steps), chains(layers.whole)
    picture = Lines(
        (
            Series(Both("LSTM", "LSTM"), list(lengths), lstm, part="ffn"),
            Series(Both("layer of a Transformer", "Transformer 的一层"), list(lengths), block),
        ),
        x_title=Both("tokens", "token 数"),
        y_title=Both("operations that wait for each other", "必须依次进行的运算个数"),
    )
    return Measurement({"lstm": lstm[-1] / lstm[-2], "block": block[-1] / block[-2], "chain": block[-1]}, picture)


def _clock(subject: Subject, watch: Watch) -> Measurement:
    """Put an LSTM and a layer of attention on the clock."""
    timed = stepwise.measure(TIMED, width=256, repeats=3, on_progress=watch)
    ratios = timed.ratios("lstm", "attention")
    picture = Lines(
        (Series(Both("LSTM / attention", "LSTM / 注意力"), list(ratios), list(ratios.values())),),
        x_title=Both("tokens", "token 数"),
        y_title=Both("time of the LSTM / time of attention", "LSTM 的时间 / 注意力的时间"),
        log_x=True,
        mark_y=1.0,
    )
    return Measurement({f"at_{tokens}": ratio for tokens, ratio in ratios.items()}, picture)


SERIAL = Question(
    96,
    reads_text=False,
    asked=Both(
        "Does a Transformer train in parallel, and an RNN in sequence?", "Transformer 可以并行训练，而 RNN 只能串行吗？"
    ),
    claim=Both(
        "An RNN needs the state before for each token; a Transformer reads all tokens at once.",
        "RNN 的每一步都依赖上一步的隐藏状态；Transformer 可以同时处理所有 token。",
    ),
    parts=(
        ClaimPart(
            Both("In an RNN the chain of operations grows with the text.", "RNN 中必须依次进行的运算随文本变长。"),
            (near("lstm", 2, within=0.1),),
        ),
        ClaimPart(
            Both(
                "In a layer of a Transformer the chain does not grow with the text.",
                "在 Transformer 的一层中，串行依赖链的长度与文本长度无关。",
            ),
            (equal("block", 1),),
        ),
    ),
    measure=lambda subject: subject.cached("serial chains", _serial),
    numbers={
        "lstm": Label(Both("chain in an LSTM, 32 tokens / 16 tokens", "LSTM 的串行依赖链，32 / 16 个 token 之比")),
        "block": Label(
            Both(
                "chain in a Transformer's layer, 32 / 16 tokens", "Transformer 一层的串行依赖链，32 / 16 个 token 之比"
            )
        ),
        "chain": Label(
            Both("chain in a Transformer's layer", "Transformer 一层的串行依赖链"), Both("operations", "次运算")
        ),
    },
    setting=Both(
        "torch's LSTM, token by token, and its Transformer layer, width 32, random weights from seed 0: the longest "
        "chain in the graph that autograd records. No loaded model takes part, for the chain does not depend on "
        "weights.",
        "torch 的 LSTM（逐个 token）和 Transformer 层，宽度 32，随机权重，种子 0："
        "取 autograd 计算图的最长路径（串行依赖链）。"
        "串行依赖链与权重无关，所以不涉及加载的模型。",
    ),
    because=Both(
        "Both are trained with the true text as input, so it is not teacher forcing that makes the difference but the "
        "state that an RNN hands on. The parallel work is n² pairs, so long texts are no free gain; RNNs without a "
        "non-linear state (linear RNNs, state space models) can be scanned in parallel too. To split a text's tokens "
        "is not what is called model parallelism.",
        "两者训练时输入的都是真实文本，所以差别不在教师强制（teacher forcing），而在 RNN 要传递隐藏状态。"
        "并行要计算 n² 对 token，长文本并不划算；状态更新是线性的 RNN（线性 RNN、状态空间模型）也可以并行扫描。"
        "样本内各 token 的并行也不叫“模型并行”。",
    ),
    refuted=Both(
        "A layer of attention whose chain grows with the text, or an LSTM whose chain does not.",
        "如果注意力层的串行依赖链随文本变长，或者 LSTM 的不变长，判断就会改变。",
    ),
    formula=r"\frac{\ell(2n)}{\ell(n)}: \quad <lstm> \;(h_t = f(h_{t-1}, x_t)), \qquad <block> \;(QK^\top)",
    papers=(VASWANI_2017,),
    see=PageLink("time", {"section": "Serial or parallel"}),
    whole=LongExperiment(
        run=_clock,
        about=Both(
            "An LSTM and a layer of attention of width 256 on this machine's clock, at 32, 128 and 512 tokens, 3 "
            "times; some seconds on one core.",
            "宽度 256 的 LSTM 和注意力层，在 32、128、512 个 token 时计时，各 3 次；单核几秒钟。",
        ),
        parts=(
            ClaimPart(
                Both(
                    "At 128 tokens the LSTM takes longer than attention.",
                    "128 个 token 时，LSTM 比注意力耗时长。",
                ),
                (above("at_128", 1),),
            ),
        ),
        numbers={
            f"at_{tokens}": Label(
                Both(f"time of the LSTM / attention, {tokens} tokens", f"LSTM / 注意力的时间，{tokens} 个 token")
            )
            for tokens in TIMED
        },
        stored=StoredRun(
            {"at_32": 1.19, "at_128": 1.52, "at_512": 0.999},
            command="python -m inspector.questions --only 96 --whole",
            seeds="0",
            date="2026-11-23",
        ),
    ),
)


# --- 97, 98: one pass, step by step, with and without the cache ----------------------------------------------------


def _teacher(subject: Subject) -> Measurement:
    forced = _forced(subject)
    table = forced.table
    picture = Lines(
        (
            Series(
                Both("with the cache", "有缓存"), table["position"].tolist(), table["cached"].clip(lower=1e-9).tolist()
            ),
            Series(
                Both("without", "无缓存"),
                table["position"].tolist(),
                table["uncached"].clip(lower=1e-9).tolist(),
                dashed=True,
            ),
        ),
        x_title=Both("position", "位置"),
        y_title=Both("largest difference of a logit from the one pass", "与一次前向的 logit 最大差"),
        log_y=True,
    )
    return Measurement(
        {
            "difference": forced.largest / max(forced.size, 1e-30),
            "same": forced.agreeing / len(table),
            "passes": float(len(table)),
        },
        picture,
    )


TEACHER = Question(
    97,
    asked=Both("Can a decoder be trained in parallel?", "解码器可以并行训练吗？"),
    claim=Both(
        "With teacher forcing the decoder reads the whole target at once; when it writes it goes token by token.",
        "训练时用教师强制，解码器可以并行；推理时只能逐个生成，是串行的。",
    ),
    parts=(
        ClaimPart(
            Both("One pass gives the same logits as step by step.", "一次前向与逐步计算得到的 logit 相同。"),
            (below("difference", 1e-4),),
        ),
        ClaimPart(
            Both("Every position has the same likeliest token.", "每个位置上最可能的 token 都相同。"),
            (equal("same", 1),),
        ),
    ),
    measure=_teacher,
    numbers={
        "difference": Label(
            Both("largest difference of a logit, relative to the largest logit", "logit 的最大差，相对最大 logit")
        ),
        "same": Label(Both("positions with the same likeliest token", "最可能 token 相同的位置"), "%"),
        "passes": Label(Both("steps that one pass stands for", "一次前向代替的步数"), Both("steps", "步")),
    },
    setting=Both(
        "The text's first tokens, 8 at most (of a translation: of the target), in one pass, and one after the other "
        "with and without the KV cache.",
        "文本的前几个 token（最多 8 个；翻译模型取译文），一次前向算完，与有、无 KV 缓存的逐步计算比较。",
    ),
    because=Both(
        "The causal mask hides what comes later, so a position in the whole text has the inputs that it has when it "
        "is the last. In writing the next input is the model's own choice, which has to be made first.",
        "因果掩码遮住后面的 token，所以每个位置在整句中看到的输入，和它作为最后一个 token 时完全一样。生成时，"
        "下一个输入是模型自己选出的 token，必须先选出来，所以只能串行。",
    ),
    refuted=Both(
        "A decoder whose logits at a position change when later tokens are there.",
        "如果某个解码器在一个位置上的 logit 会因后面的 token 而改变，判断就会改变。",
    ),
    formula=r"\frac{\max |z^{(1)} - z^{(n)}|}{\max |z|} = <difference>",
    papers=(VASWANI_2017,),
    see=PageLink("time", {"section": "Teacher forcing"}),
    of=STEP_BY_STEP,
)


def _cache_exact(subject: Subject) -> Measurement:
    forced = _forced(subject)
    table = forced.table
    apart = (table["cached"] - table["uncached"]).abs()
    return Measurement(
        {
            "cached": float(table["cached"].max()) / max(forced.size, 1e-30),
            "agree": float((table["same_cached"] & table["same_uncached"]).mean()),
            "saved": forced.totals["uncached"] / forced.totals["cached"],
            "apart": float(apart.max()),
        },
        _by_step(
            table.assign(tokens=table["position"] + 1),
            "flops_cached",
            "flops_uncached",
            Both("FLOPs of the step", "该步的 FLOPs"),
        ),
    )


def _write_twice(subject: Subject, watch: Watch) -> Measurement:
    """Write with the cache and without, on the clock."""

    def tell(done: int) -> None:
        watch(done, 2 * NEW_TOKENS)

    written = generating.write(subject.loaded, subject.text, new_tokens=NEW_TOKENS, watch=tell)
    table = written.table()
    picture = Lines(
        (
            Series(Both("with the cache", "有缓存"), table["step"].tolist(), table["seconds_cached"].tolist()),
            Series(Both("without", "无缓存"), table["step"].tolist(), table["seconds_uncached"].tolist(), dashed=True),
        ),
        x_title=Both("step", "步"),
        y_title=Both("seconds", "秒"),
    )
    return Measurement(
        {
            "same": float(written.same_without_cache),
            "times": float(table["seconds_uncached"].sum() / table["seconds_cached"].sum()),
            "tokens": float(len(table)),
        },
        picture,
    )


CACHE_EXACT = Question(
    98,
    asked=Both("Does the KV cache give the same as computing everything again?", "用 KV 缓存和重新计算的结果一样吗？"),
    claim=Both(
        "The KV cache is exact: it keeps keys and values instead of computing them again.",
        "KV 缓存不改变结果：它只是把算过的 K、V 存下来，不再重复计算。",
    ),
    parts=(
        ClaimPart(
            Both("The logits are equal but for rounding.", "除舍入误差外，logit 相同。"),
            (below("cached", 1e-4), equal("agree", 1)),
        ),
        ClaimPart(Both("The cache saves work.", "KV 缓存节省计算量。"), (above("saved", 1),)),
    ),
    measure=_cache_exact,
    numbers={
        "cached": Label(
            Both("largest difference of a logit, relative to the largest logit", "logit 的最大差，相对最大 logit")
        ),
        "agree": Label(Both("positions with the same likeliest token", "最可能 token 相同的位置"), "%"),
        "saved": Label(Both("FLOPs without / with the cache", "无缓存 / 有缓存的 FLOPs")),
        "apart": Label(
            Both(
                "differences from the one pass with and without the cache, largest gap",
                "有缓存、无缓存各自与一次前向之差，两者的最大差距",
            )
        ),
    },
    setting=Both(
        "The text's first tokens, 8 at most, step by step with the cache and without, against one pass over all of "
        "them; FLOPs as they ran.",
        "文本的前几个 token（最多 8 个），分别用有缓存、无缓存的方式逐步计算，与一次前向比较；FLOPs 按实际运行计数。",
    ),
    because=Both(
        "Under a causal mask an old token's state never sees a new one, so its key and value stay what they were. "
        "Sums run in another order with another number of rows, which moves the last digits of float32.",
        "在因果掩码下，旧 token 的状态看不到新 token，所以它的 K、V 不会变。行数不同时求和顺序不同，"
        "float32 的最后几位会有差别。",
    ),
    refuted=Both(
        "A causal model in float64 whose logits with the cache differ by more than rounding.",
        "如果某个因果模型在 float64 下，有缓存时 logit 的差别超过舍入误差，判断就会改变。",
    ),
    formula=r"\frac{\max |z^{kv} - z|}{\max |z|} = <cached>, \qquad \frac{F}{F^{kv}} = <saved>",
    papers=(SHAZEER_2019,),
    see=PageLink("generate", {"section": "KV cache"}),
    of=STEP_BY_STEP,
    whole=LongExperiment(
        run=_write_twice,
        about=Both(
            f"{NEW_TOKENS} new tokens after this text, with the cache and without, on the clock; some seconds on "
            "one core.",
            f"在该文本之后生成 {NEW_TOKENS} 个 token，有缓存和无缓存各一次并计时；单核几秒钟。",
        ),
        parts=(
            ClaimPart(Both("Both write the same tokens.", "两种方式写出的 token 相同。"), (equal("same", 1),)),
            ClaimPart(Both("Without the cache it takes longer.", "没有缓存时耗时更长。"), (above("times", 1),)),
        ),
        numbers={
            "same": Label(
                Both("share of texts that are the same with the cache and without", "有缓存与无缓存结果相同的比例"), "%"
            ),
            "times": Label(Both("time without / with the cache", "无缓存 / 有缓存的时间")),
            "tokens": Label(Both("tokens that were written", "写出的 token 数")),
        },
        stored=StoredRun(
            {"same": 1.0, "times": 1.48, "tokens": 120.0},
            command="python -m inspector.questions --only 98 --whole",
            seeds="0",
            date="2026-11-23",
        ),
    ),
)


# --- 99: orders ----------------------------------------------------------------------------------------------------


def _orders(subject: Subject) -> Measurement:
    table = _steps(subject)
    cached, uncached = table["flops_cached"].to_numpy(dtype=float), table["flops_uncached"].to_numpy(dtype=float)
    # a step's work is a + b n + c n²: second differences give c, and of the running sum b
    middle = slice(COUNTED_STEPS // 2, None)
    sums = table["total_cached"].to_numpy(dtype=float)
    return Measurement(
        {
            "cached_bend": float(abs(pd.Series(cached[middle]).diff().diff()).max()),
            "uncached_bend": float(pd.Series(uncached[middle]).diff().diff().mean()),
            "text_bend": float(pd.Series(sums[middle]).diff().diff().mean()),
            "saved": float(table["total_uncached"].iloc[-1] / sums[-1]),
        },
        _by_step(table, "flops_cached", "flops_uncached", Both("FLOPs of the step", "该步的 FLOPs")),
    )


ORDERS = Question(
    99,
    reads_text=False,
    asked=Both("Does the KV cache turn O(n²) into O(n)?", "KV 缓存把 O(n²) 降为 O(n) 吗？"),
    claim=Both(
        "With the cache attention costs O(n) instead of O(n²).",
        "有了 KV 缓存，注意力的复杂度从 O(n²) 降到 O(n)。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Without the cache a step grows with the square of the length.",
                "没有缓存时，一步的计算量按长度的平方增长。",
            ),
            (above("uncached_bend", 0),),
        ),
        ClaimPart(
            Both("With the cache a step grows in proportion.", "有缓存时，一步的计算量线性增长。"),
            (at_most("cached_bend", 0),),
        ),
        ClaimPart(
            Both("With the cache a whole text grows in proportion.", "有缓存时，生成整段文本的计算量线性增长。"),
            (at_most("text_bend", 0),),
        ),
    ),
    measure=_orders,
    numbers={
        "uncached_bend": Label(
            Both(
                "second difference of a step's FLOPs without cache, 0 where they grow in proportion",
                "无缓存时一步 FLOPs 的二阶差分，线性增长时为 0",
            ),
            "FLOPs",
        ),
        "cached_bend": Label(
            Both("second difference of a step's FLOPs with the cache", "有缓存时一步 FLOPs 的二阶差分"), "FLOPs"
        ),
        "text_bend": Label(
            Both("second difference of a whole text's FLOPs with the cache", "有缓存时整段文本 FLOPs 的二阶差分"),
            "FLOPs",
        ),
        "saved": Label(
            Both("FLOPs without / with the cache, 64 tokens in all", "共 64 个 token，无缓存 / 有缓存的 FLOPs")
        ),
    },
    setting=Both(
        "FLOPs of the matrix products of steps 1 to 64, from the configuration; the second difference of a polynomial "
        "is twice its n² term.",
        "第 1 到 64 步矩阵乘法的 FLOPs，由配置得到；多项式的二阶差分等于 n² 项系数的两倍。",
    ),
    because=Both(
        "The sentence is about the scores and the weighted sum of one step: n d with the cache, n² d without. The "
        "step's projections and FFN are n-fold cheaper too, and are the larger part for short texts. Summed over a "
        "text the scores are n² d with the cache, and n³ d without.",
        "这句话说的是一步中的分数与加权求和：有缓存时 n·d，无缓存时 n²·d。这一步的投影和 FFN 也减少到 1/n，"
        "文本短时它们占大头。整段文本累加起来，有缓存时是 n²·d，无缓存时是 n³·d。",
    ),
    refuted=Both(
        "A whole text whose work with the cache grows in proportion, with attention to all tokens before.",
        "如果每个 token 都看前面所有 token，而有缓存时整段文本的计算量线性增长，判断就会改变。",
    ),
    formula=r"\Delta^2 F^{kv}_t = <cached_bend>, \quad \Delta^2 F_t = <uncached_bend>, \quad \Delta^2 \sum_t "
    r"F^{kv}_t = <text_bend>",
    papers=(SHAZEER_2019,),
    see=PageLink("costs", {"section": "Memory and steps"}),
    of=STEP_BY_STEP,
)


# --- 100: not for training, not for an encoder ---------------------------------------------------------------------


def _any_stage(subject: Subject) -> Measurement:
    totals = _forced(subject).totals
    encoder = subject.within(ENCODER)
    moved = encoder.once("old keys", lambda: stepwise.old_keys(encoder.loaded, encoder.trace))
    keys = moved[moved["tensor"] == "key"]
    table = subject.once("old keys", lambda: stepwise.old_keys(subject.loaded, subject.trace))
    stream = table[(table["tensor"] == "key") & (table["stream"] == table["stream"].iloc[-1])]
    picture = Lines(
        (
            Series(Both("encoder", "编码器"), [float(at) for at in keys["layer"]], keys["relative"].tolist()),
            Series(
                Both("decoder", "解码器"),
                [float(at) for at in stream["layer"]],
                stream["relative"].tolist(),
                dashed=True,
            ),
        ),
        x_title=Both("layer", "层"),
        y_title=Both("old keys moved by one more token", "多一个 token 后旧 K 的变化"),
    )
    return Measurement(
        {
            "training": totals["pass"] / totals["cached"],
            "encoder": float(keys["relative"].max()),
            "decoder": float(stream["relative"].max()),
        },
        picture,
    )


ANY_STAGE = Question(
    100,
    asked=Both(
        "Can the KV cache be used at any stage, in training too?", "KV 缓存在任何阶段都能用吗，训练时也能用吗？"
    ),
    claim=Both(
        "The KV cache speeds up every stage, training and inference, of every Transformer.",
        "KV 缓存可以用在任何阶段，训练和推理都能加速。",
    ),
    parts=(
        ClaimPart(
            Both(
                "In training the cache saves work: one pass costs half more than a cached run.",
                "训练时 KV 缓存也省计算：一次前向的计算量至少是有缓存逐步计算的 1.5 倍。",
            ),
            (above("training", 1.5),),
        ),
        ClaimPart(
            Both("An encoder's old keys stay valid when a token is added.", "编码器加入新 token 后，旧的 K 仍然有效。"),
            (below("encoder", 1e-4),),
        ),
    ),
    measure=_any_stage,
    numbers={
        "training": Label(Both("FLOPs of one pass / of a cached run", "一次前向 / 有缓存逐步计算的 FLOPs")),
        "encoder": Label(Both("old keys of an encoder moved, most moved layer", "编码器旧 K 的变化，变化最大的一层")),
        "decoder": Label(Both("old keys of a decoder moved, most moved layer", "解码器旧 K 的变化，变化最大的一层")),
    },
    setting=Both(
        "Passes: the text's first tokens, 8 at most, in a model that writes. Keys: the text without its last token "
        "and with it, in that decoder and in MiniLM, an encoder; |after − before| / |before|, mean over the old "
        "tokens.",
        "计算量：在能生成的模型上取文本的前几个 token（最多 8 个）。旧 K：文本去掉最后一个 token 与不去掉，"
        "分别在该解码器和编码器 MiniLM 上比较，|后 − 前| / |前|，对旧 token 取平均。",
    ),
    because=Both(
        "Training has the whole text, so nothing is computed twice that could be kept; and after each update of the "
        "weights old keys would be wrong. In an encoder every token sees a new one, so from the second layer on all "
        "keys change.",
        "训练时整段文本已知，一次前向就算完，没有重复计算可省；而且权重一更新，旧的 K、V 就作废了。在编码器里，"
        "每个 token 都能看到新 token，所以从第二层起所有 K 都会变。",
    ),
    refuted=Both(
        "One pass over a text that costs much more than a cached run, or an encoder of several layers whose keys stay.",
        "如果一次前向比有缓存的逐步计算贵得多，或者多层编码器的 K 不变，判断就会改变。",
    ),
    formula=r"\frac{F_{1}}{F^{kv}} = <training>, \qquad \frac{|\Delta K|}{|K|}: \; <encoder> \;(\leftrightarrow), "
    r"\; <decoder> \;(\rightarrow)",
    papers=(SHAZEER_2019,),
    see=PageLink("time", {"section": "Old keys and queries"}),
    of=STEP_BY_STEP,
)


# --- 101: no Q cache -----------------------------------------------------------------------------------------------


def _no_queries(subject: Subject) -> Measurement:
    reads = subject.once("reads", lambda: stepwise.reads(subject.loaded, subject.trace, tokens=_tokens(subject)))
    queries = [float(read.query.sum() - read.query.diagonal().sum()) for read in reads]
    keys = [float(read.key.sum() - read.key.diagonal().sum()) for read in reads]
    made = [float(read.made.sum(axis=0).max()) for read in reads]
    first = reads[0]
    names = list(first.tokens)
    picture = Heatmap(
        first.query.astype("float32"),
        rows=names,
        columns=names,
        row_title=Both("step that reads token", "读入该 token 的一步"),
        column_title=Both("token whose query or key is read", "Q 或 K 被读取的 token"),
        quantity=Both("read", "被读取"),
        title=Both("queries", "Q"),
        beside=first.key.astype("float32"),
        beside_title=Both("keys", "K"),
    )
    return Measurement({"queries": max(queries), "keys": min(keys), "made": max(made)}, picture)


NO_QUERIES = Question(
    101,
    reads_text=False,
    asked=Both("Why is there a KV cache, and no Q cache?", "为什么只缓存 K、V，不缓存 Q？"),
    claim=Both(
        "A step needs the newest token's query alone, but the keys and values of all tokens.",
        "每一步只用到当前 token 的 Q，却要用到之前所有 token 的 K、V。",
    ),
    parts=(
        ClaimPart(
            Both("No step reads an earlier token's query.", "没有哪一步读取之前 token 的 Q。"), (equal("queries", 0),)
        ),
        ClaimPart(
            Both("Steps read earlier tokens' keys and values.", "每一步都读取之前 token 的 K、V。"), (above("keys", 0),)
        ),
        ClaimPart(Both("Each key is computed once.", "每个 K 只计算一次。"), (equal("made", 1),)),
    ),
    measure=_no_queries,
    numbers={
        "queries": Label(Both("reads of earlier queries, most of all layers", "读取之前 Q 的次数，各层最多")),
        "keys": Label(Both("reads of earlier keys, fewest of all layers", "读取之前 K 的次数，各层最少")),
        "made": Label(Both("times that a key is computed, at most", "一个 K 最多被计算的次数")),
    },
    setting=Both(
        "The text's first tokens, 8 at most, step by step with the cache; each layer's attention is watched.",
        "文本的前几个 token（最多 8 个），用缓存逐步计算，逐层观察注意力读了什么。",
    ),
    because=Both(
        "Row t of Q Kᵀ needs q_t and all keys up to t; earlier rows gave earlier outputs and are done. It is not that "
        "the query alone is computed: the newest token's key and value are too, and go to the cache.",
        "Q Kᵀ 的第 t 行只需要 q_t 和到 t 为止的所有 K；之前各行对应之前的输出，已经算完了。每一步也不是“只算 Q”："
        "新 token 的 K、V 也要算，并存入缓存。",
    ),
    refuted=Both(
        "A step of a causal decoder that reads the query of an earlier token.",
        "如果因果解码器的某一步读取了之前 token 的 Q，判断就会改变。",
    ),
    formula=r"o_t = \mathrm{softmax}\!\left(\frac{q_t K_{\leq t}^\top}{\sqrt{d_k}}\right) V_{\leq t}: \quad "
    r"\#q_{<t} = <queries>, \; \#k_{<t} = <keys>",
    papers=(SHAZEER_2019,),
    see=PageLink("time", {"section": "Old keys and queries"}),
    of=STEP_BY_STEP,
)


# --- 102: memory ---------------------------------------------------------------------------------------------------


def _linear(subject: Subject) -> Measurement:
    loaded, forced = subject.loaded, _forced(subject)
    cache = costs.kv_cache(loaded.config)
    tokens = len(forced.table)
    source = len(subject.trace.tokens) if loaded.shape == "encoder-decoder" else 0
    size = torch.finfo(getattr(torch, forced.dtype.removeprefix("torch."))).bits // 8
    lengths = [16, 32, 64, 128]
    cache_bytes = [float(cache.bytes(n, element_bytes=size)) for n in lengths]
    full = cache.shared_by(cache.heads) if cache.sharing != "MLA" else cache
    picture = Lines(
        (
            Series(Both("this model", "该模型"), lengths, cache_bytes),
            Series(
                Both("with keys of its own for each head", "每个头各有 K、V 时"),
                lengths,
                [float(full.bytes(n, element_bytes=size)) for n in lengths],
                dashed=True,
            ),
        ),
        x_title=Both("tokens", "token 数"),
        y_title=Both("bytes of the KV cache", "KV 缓存的字节数"),
    )
    return Measurement(
        {
            "growth": cache_bytes[-1] / cache_bytes[-2],
            "kept": float(forced.cache_bytes),
            "counted": float(cache.bytes(tokens, source=source, element_bytes=size)),
            "token": float(cache.token_bytes(size)),
            "shared": cache.token_bytes(size) / full.token_bytes(size),
        },
        picture,
    )


LINEAR = Question(
    102,
    reads_text=False,
    asked=Both("Does the KV cache grow in proportion to the text?", "KV 缓存的显存占用随长度线性增长吗？"),
    claim=Both(
        "The cache takes memory in proportion to the length: 2 L n d numbers where each head has its own keys and "
        "values.",
        "KV 缓存占用的显存与序列长度成正比：各头有各自的 K、V 时为 2·L·n·d 个数。",
    ),
    parts=(
        ClaimPart(
            Both("Twice the text, twice the cache.", "文本加长一倍，缓存也大一倍。"), (near("growth", 2, within=0.001),)
        ),
        ClaimPart(
            Both("The formula gives the bytes that are really kept.", "公式给出的就是实际保存的字节数。"),
            (near("kept", "counted", within=0.001),),
        ),
    ),
    measure=_linear,
    numbers={
        "growth": Label(Both("cache at 128 tokens / at 64", "128 个与 64 个 token 时的缓存之比")),
        "kept": Label(
            Both("cache as it is kept after the text's first tokens", "读完文本前几个 token 后实际保存的缓存"), "B"
        ),
        "counted": Label(
            Both("cache by the formula after the text's first tokens", "读完文本前几个 token 后按公式计算的缓存"), "B"
        ),
        "token": Label(Both("cache that one more token takes", "每多一个 token 增加的缓存"), "B"),
        "shared": Label(
            Both("cache, relative to one with keys and values for each head", "缓存占各头不共享 K、V 时的比例"), "%"
        ),
    },
    setting=Both(
        "Kept: the text's first tokens, 8 at most, step by step. Formula: 2 L n K E numbers, K heads of keys of width "
        "E; of an encoder-decoder the source's keys and values once more.",
        "实际：文本的前几个 token（最多 8 个）逐步计算之后。公式：2·L·n·K·E 个数，K 为键的头数，E 为头的宽度；"
        "编码器-解码器还要加上一份源文的 K、V。",
    ),
    because=Both(
        "Each token adds one key and one value a layer. Heads that share keys (GQA, MQA) divide it by as many; a "
        "source is kept once; a sliding window stops the growth. Cutting the text off is one way out among several, "
        "and it changes the result.",
        "每个 token 在每一层各加一个 K 和一个 V。共享 K、V 的头（GQA、MQA）成倍地减小它；源文只存一份；"
        "滑动窗口使它不再增长。截断文本只是办法之一，而且会改变结果。",
    ),
    refuted=Both(
        "A cache with attention to all tokens that grows otherwise than in proportion.",
        "如果每个 token 都看前面所有 token，而缓存不是线性增长，判断就会改变。",
    ),
    formula=r"2 L n K E \cdot b = <counted> \approx <kept>, \qquad \frac{M(2n)}{M(n)} = <growth>",
    papers=(SHAZEER_2019, AINSLIE_2023),
    see=PageLink("costs", {"section": "Memory and steps"}),
    of=STEP_BY_STEP,
)


THEME = Theme(
    "in_parallel",
    Both("In parallel, and the KV cache", "并行与 KV 缓存"),
    (SERIAL, TEACHER, CACHE_EXACT, ORDERS, ANY_STAGE, NO_QUERIES, LINEAR),
)
