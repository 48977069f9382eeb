"""Kinds of models that questions are asked of, and the bundled models that stand in for a model of another kind.

A predicate imports what it reads when it is asked, for listing the questions loads no model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.questions.record.both import Both

if TYPE_CHECKING:
    import models


@dataclass(frozen=True)
class Kind:
    """A kind of model.

    can: tells whether a model is of the kind. lacks: says what a model of another kind lacks, after its name. instead:
    the ids of bundled models that stand in for a model of another kind, the best first.
    """

    can: Callable[[models.LoadedModel], bool]
    lacks: Both
    instead: tuple[str, ...]

    def stand_in(self, at_hand: Callable[[str], bool]) -> str:
        """Choose the first of `instead` that is at hand; where none is, the first, whose loading says why."""
        return next(filter(at_hand, self.instead), self.instead[0])


ENCODERS = ("minilm", "mini-bert")  # the second is in the repository
ANY = Kind(lambda loaded: True, Both("", ""), ENCODERS)
ENCODER = Kind(
    lambda loaded: loaded.shape == "encoder",
    Both("is no encoder that reads in both directions", "不是双向阅读的编码器"),
    ENCODERS,
)
DECODER = Kind(
    lambda loaded: loaded.shape == "decoder",
    Both("is no decoder with a causal mask", "不是带因果掩码的解码器"),
    ("mini-gpt",),
)
ENCODER_DECODER = Kind(
    lambda loaded: loaded.shape == "encoder-decoder",
    Both("is no encoder-decoder, and has no cross-attention", "不是编码器-解码器，没有交叉注意力"),
    ("translator",),
)
WRITES = Kind(
    lambda loaded: loaded.runner.writes,
    Both("does not write", "不能生成文本"),
    ("mini-gpt",),
)
PREDICTS = Kind(
    lambda loaded: loaded.runner.predicts,
    Both("predicts no tokens", "不能预测 token"),
    ("mini-bert",),
)
FILLS_MASKS = Kind(
    lambda loaded: loaded.fills_masks,
    Both("guesses no hidden tokens", "不能猜被遮住的 token"),
    ("mini-bert",),
)


# --- what a model can, and what of it is seen ------------------------------------------------------------------------

SEES_QUERIES = Kind(
    lambda loaded: loaded.backend != "eager output",
    Both("does not show its queries and keys", "看不到它的 Q 和 K"),
    ENCODERS,
)
SPEAKS = Kind(
    lambda loaded: loaded.shape == "decoder" and loaded.runner.predicts and loaded.backend != "eager output",
    Both("is no decoder whose values and output matrix are seen", "不是能看到值和输出矩阵的解码器"),
    ("mini-gpt",),
)
SELF_ALONE = Kind(
    lambda loaded: loaded.shape != "encoder-decoder",
    Both(
        "reads two texts, and rollout follows tokens through one alone",
        "读入两个文本，而 rollout 只能在一个文本内追溯",
    ),
    ENCODERS,
)
READS_LAYERS = Kind(
    lambda loaded: loaded.predict is not None, Both("predicts no tokens", "不能预测 token"), ("mini-gpt",)
)
ONE_STACK = Kind(
    lambda loaded: loaded.shape != "encoder-decoder" and not loaded.live,
    Both("reads a source and a target, or is a model in memory", "是编码器-解码器，或者是内存中的模型"),
    ENCODERS,
)
CONTINUES = Kind(
    lambda loaded: loaded.shape == "decoder" and loaded.predict is not None and loaded.backend != "eager output",
    Both(
        "is no decoder whose attention can be changed and which predicts the next token",
        "不是能改动其注意力、并预测下一个 token 的解码器",
    ),
    ("mini-gpt",),
)
PREDICTS_FROM_STATES = Kind(
    lambda loaded: loaded.predict is not None and loaded.shape != "encoder-decoder",
    Both("predicts no tokens from the states of one text", "不能由一段文本的状态预测 token"),
    ("mini-gpt",),
)


def _reads_in_parts(loaded: models.LoadedModel) -> bool:
    from models.transformer.runner import OwnRunner

    return isinstance(loaded.runner, OwnRunner) and loaded.shape == "decoder"


READS_IN_PARTS = Kind(
    _reads_in_parts,
    Both(
        "is no decoder of Headlight's own, whose cache takes several tokens at once here",
        "不是 Headlight 自己的解码器，这里无法让它的缓存一次读入几个 token",
    ),
    ("mini-gpt",),
)


def _writes_stepwise(loaded: models.LoadedModel) -> bool:
    from inspector import stepwise

    return not stepwise.why_not(loaded)


STEP_BY_STEP = Kind(
    _writes_stepwise,
    Both("does not write token by token with a KV cache", "不能借助 KV 缓存逐个 token 生成"),
    ("mini-gpt",),
)


def _starts_with_cls(loaded: models.LoadedModel) -> bool:
    from inspector import sentence_vectors

    return sentence_vectors.starts_with_cls(loaded)


HAS_CLS = Kind(_starts_with_cls, Both("has no [CLS] before its texts", "文本前没有 [CLS]"), ENCODERS)

# --- its norms -------------------------------------------------------------------------------------------------------


def _normed(loaded: models.LoadedModel) -> bool:
    from models.transformer.norms import NoNorm

    return any(
        "norm" in type(module).__name__.lower() and not isinstance(module, NoNorm)
        for module in loaded.network.modules()
    )


def _layer_normed(loaded: models.LoadedModel) -> bool:
    from torch import nn

    from models.transformer.norms import LayerNorm

    return any(isinstance(module, nn.LayerNorm | LayerNorm) for module in loaded.network.modules())


def _is_own_stack(loaded: models.LoadedModel) -> bool:
    from models.transformer.runner import OwnRunner

    return isinstance(loaded.runner, OwnRunner) and loaded.shape != "encoder-decoder"


NORMED = Kind(_normed, Both("has no norms", "没有归一化层"), ENCODERS)
LAYER_NORMED = Kind(_layer_normed, Both("has no LayerNorm", "没有 LayerNorm"), ENCODERS)
BATCHED = Kind(
    lambda loaded: loaded.shape != "encoder-decoder" and _normed(loaded),
    Both("has no norm, or reads no texts together", "没有归一化层，或者不能把多个文本放在一个批次中读取"),
    ENCODERS,
)
OWN_NORMS = Kind(
    lambda loaded: _is_own_stack(loaded) and _normed(loaded),
    Both(
        "is not run by Headlight's own encoder or decoder with norms, of which a copy is changed here",
        "不由 Headlight 自己的带归一化层的编码器或解码器运行，而这个问题要改动它的一个副本",
    ),
    ("minilm-own", "mini-bert"),
)
PACKS = Kind(
    _is_own_stack,
    Both(
        "is not run by Headlight's own encoder or decoder, which reads several texts in one row",
        "不由 Headlight 自己的编码器或解码器运行，不能把多个文本放进同一行",
    ),
    ("minilm-own", "mini-bert"),
)

_SHORT = 512  # the most tokens that a model was trained on, so that the questions' passages are longer

# --- its positions ---------------------------------------------------------------------------------------------------


def _rotates(loaded: models.LoadedModel) -> bool:
    from inspector import positional

    return positional.rotates(loaded.config)


def _has_learned_positions(loaded: models.LoadedModel) -> bool:
    from torch import nn

    positions = getattr(loaded.config, "positions", None)
    if isinstance(positions, str):
        return positions == "learned"
    return any(
        isinstance(module, nn.Embedding) and "Sinus" not in type(module).__name__ and "relative" not in path
        for path, module in loaded.network.named_modules()
        if path.endswith(("position_embeddings", "wpe", "embed_positions"))
    )


def _rotates_and_is_short(loaded: models.LoadedModel) -> bool:
    return (
        loaded.backend == "own"
        and loaded.shape == "decoder"
        and loaded.config.positions == "rope"
        and loaded.predict is not None
        and loaded.max_tokens <= _SHORT
    )


ROTATES = Kind(_rotates, Both("does not turn its queries and keys (RoPE)", "没有使用 RoPE"), ("mini-gpt",))
SINUSOIDAL = Kind(
    lambda loaded: loaded.backend == "own" and loaded.config.positions == "sinusoidal",
    Both("adds no sinusoidal table of Headlight's own", "没有使用 Headlight 自己的正弦位置编码"),
    ("own-encoder",),
)
SHORT_ROTATES = Kind(
    _rotates_and_is_short,
    Both(
        "is no decoder of Headlight's own with RoPE that was trained on 512 tokens or fewer",
        "不是 Headlight 自己的、使用 RoPE 且训练长度不超过 512 个 token 的解码器",
    ),
    ("mini-gpt",),
)
LEARNED_TABLE = Kind(
    _has_learned_positions, Both("has no learned table of positions", "没有可学习的位置编码表"), ("minilm",)
)
GOES_ON = Kind(
    lambda loaded: (
        loaded.card.id.split("?")[0] == "mini-gpt" and loaded.config.positions in ("rope", "alibi", "t5", "none")
    ),
    Both(
        "is no small trained decoder whose positions go on beyond its longest text",
        "不是训练好的、位置编码能超出最大长度的小型解码器",
    ),
    ("mini-gpt",),
)

# --- the language that it reads --------------------------------------------------------------------------------------


def _reads_english(loaded: models.LoadedModel) -> bool:
    from inspector import examples

    return examples.reads(loaded.card.id, examples.FIRST)


READS_ENGLISH = Kind(
    _reads_english,
    Both("does not read English, in which the words are marked", "不读英文，而这里标注的是英文句子"),
    ENCODERS,
)
READS_BOTH_WAYS = Kind(
    lambda loaded: loaded.shape != "decoder" and _reads_english(loaded),
    Both("does not read English in both directions", "不是双向阅读英文的模型"),
    ENCODERS,
)
