"""The switches of the own Transformer as the page names them, in Chinese; groups and fields by their English names."""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf
from typing import Any

from inspector.wording.english.switches import Switch

PANEL = "开关"
NO_SWITCHES = "这个模型无法放进自建 Transformer，因此没有开关："
GROUP_LABEL = "开关分组"
AS_IT_IS, RESET = "原样", "还原"
SIDES_READ = "可以改动这个 Transformer 的任何一项设置。A 是各页所用的模型，B 与它并排。改动过的行用粗体。"
NOT_SWITCHED = "由分词器决定的部分、模型的形状和 dropout 不能在这里改动。"
_GROUPS = {
    "Positions": "位置",
    "Attention": "注意力",
    "Mask": "掩码",
    "Block": "层内结构",
    "Sharing": "共享",
    "Size": "规模",
}
GROUPS: Mapping[str, Mapping[str, Switch]] = {
    "Positions": {
        "positions": Switch("位置编码", "加在嵌入上、加在分数上，或旋转 q 和 k。"),
        "rope_base": Switch("RoPE 底数", "RoPE 最慢的一对特征的波长除以 2π。"),
        "relative_buckets": Switch("T5 分桶数", "T5 能区分多少种距离。"),
        "relative_distance": Switch("最远距离", "T5 和 Shaw：超过它的距离都算同一个距离。"),
        "max_positions": Switch("最长文本", "以 token 计，即可学习位置表的行数。"),
        "embedding_scale": Switch("嵌入乘以 √D", "使 token 的分量大于位置。"),
        "embedding_norm": Switch("嵌入后的归一化", "在第一层之前，如 BERT 和 BLOOM。"),
        "embedding_width": Switch("嵌入宽度", "小于 D，再投影到 D（ALBERT）；留空即为 D。"),
    },
    "Attention": {
        "score": Switch("分数函数", "查询与键有多相似。"),
        "weighting": Switch("加权方式", "分数如何变成权重；线性注意力有自己的分数。"),
        "scale": Switch("缩放", "无论头有多宽，都使分数的方差接近 1。"),
        "heads": Switch("头数", "H。换一个数会重新随机初始化 W_Q、W_K、W_V 和 W_O。"),
        "kv_heads": Switch("KV 头数", "K：1 为 MQA，1 与 H 之间为 GQA；留空即为 H。"),
        "head_size": Switch("头的宽度", "E：D / H，每个头都为 D，或自己输入一个数。"),
        "projections": Switch("W_Q、W_K 和 W_V", "关：q、k、v 就是文本本身，softmax(x xᵀ) x。"),
        "shared_query_key": Switch("W_Q = W_K", "分数对称：i 看 j 与 j 看 i 相同（Reformer）。"),
        "shared_key_value": Switch("K = V", "用来匹配的内容也就是被取走的内容。"),
        "merge": Switch("合并", "拼接后经过 W_O，或直接相加：相加后分不清来自哪个头。"),
    },
    "Mask": {
        "causal": Switch("因果掩码", "任何 token 都看不到后面的 token。"),
        "window": Switch("窗口", "只看距离小于这么多 token 的键；留空即全部。"),
        "mask_fill": Switch("填充值", "被遮住的键的分数。有限值和 0 会泄漏；可以自己输入。"),
        "mask_before_scale": Switch("先掩码后缩放", "填 −∞ 时没有区别，填有限值时掩码更弱。"),
    },
    "Block": {
        "norm": Switch("归一化", "BatchNorm：每个特征在你的文本的全部 token 上归一化。"),
        "norm_placement": Switch("归一化的位置", "post：norm(x + f(x))；pre：x + f(norm(x))。"),
        "final_norm": Switch("末尾归一化", "最后一层之后再归一化一次；与 pre 搭配。"),
        "norm_epsilon": Switch("ε", "加在方差上，避免除以 0。"),
        "residual": Switch("残差", "x + f(x)。没有它，秩和梯度会随深度塌缩。"),
        "activation": Switch("激活函数", "FFN 的激活函数；SwiGLU 和 GeGLU 带门控，有三个矩阵。"),
        "ffn_width": Switch("FFN 宽度", "F：FFN 有多少个单元。"),
        "bias": Switch("偏置", "每个 x W + b 中的 b；归一化的 β 始终保留。"),
    },
    "Sharing": {
        "shared_layers": Switch("各层共享", "只有一层，运行 L 次：计算量不变（ALBERT）。"),
        "tied_embeddings": Switch("嵌入共享", "输出矩阵就是嵌入，或三者相同。"),
        "output_head": Switch("输出头", "解码器用它预测 token；关掉即为不带输出头的解码器。"),
    },
    "Size": {
        "layers": Switch("层数", "L，有两个栈时指编码器；减少时保留前几层。"),
        "decoder_layers": Switch("解码器层数", "编码器-解码器才有；留空即与 L 相同。"),
        "width": Switch("宽度", "D：每个 token 有多少个特征。"),
        "initialisation": Switch("初始化", "新权重如何随机产生。"),
    },
}
"""Group -> field of TransformerConfig -> its words."""

SEED = Switch("随机种子", "用来产生没有现成权重的部分。")

_WORDS: Mapping[str, Mapping[Any, str]] = {
    "positions": {
        "learned": "可学习",
        "sinusoidal": "正弦",
        "t5": "T5 分桶",
        "shaw": "Shaw 向量",
        "xl": "Transformer-XL",
        "rope": "RoPE",
        "alibi": "ALiBi",
    },
    "scale": {"1/sqrt(d_k)": "1/√d_k"},
    "score": {
        "dot": "点积",
        "general": "双线性",
        "cosine": "余弦",
        "additive": "加性",
        "additive_naive": "加性，逐对计算",
    },
    "weighting": {"linear": "线性"},
    "head_size": {"split": "D / H", "full": "D"},
    "merge": {"concat": "拼接", "sum": "相加"},
    "norm": {
        "layer": "LayerNorm",
        "rms": "RMSNorm",
        "batch": "BatchNorm",
        "masked_batch": "不计填充的 BatchNorm",
    },
    "activation": {
        "relu": "ReLU",
        "gelu": "GELU",
        "gelu_tanh": "GELU（tanh）",
        "swiglu": "SwiGLU",
        "geglu_tanh": "GeGLU（tanh）",
    },
    "mask_fill": {"zero": "0 × 分数"},
    "tied_embeddings": {"output": "输入与输出", "three-way": "三者"},
    "initialisation": {"torch": "PyTorch 默认", "normal": "N(0, 0.02)", "xavier": "Glorot"},
    "causal": {None: "按形状"},
}
"""Values whose name in the page is not the one of Python."""
_WITHOUT = {
    "kv_heads": "同 H",
    "window": "无",
    "decoder_layers": "同 L",
    "embedding_width": "同 D",
}
"""Names of numbers that are left out."""

WORDS = {field: words for group in GROUPS.values() for field, words in group.items()}
"""Field -> its words, of all groups."""


def value(field: str, of: Any) -> str:
    """Name a value of a switch: "1/√d_k", "关", "同 H"."""
    if not isinstance(of, bool) and of in (known := _WORDS.get(field, {})):
        return known[of]
    if of is None or of == "none":
        return _WITHOUT.get(field, "无")
    if isinstance(of, bool):
        return "开" if of else "关"
    if isinstance(of, float):
        return "−∞" if isinf(of) else f"{of:g}".replace("-", "−")
    return f"{of:,}" if isinstance(of, int) else str(of)


def changes(switches: Mapping[str, Any], *, seed: int = 0, most: int | None = None) -> str:
    """Name changed switches: "缩放 无、头数 3"; at most `most` of them, and the number of the others."""
    named = [f"{WORDS[field].name} {value(field, of)}" for field, of in switches.items()]
    named += [f"随机种子 {seed}"] if seed else []
    if most is not None and len(named) > most:
        return f"{'、'.join(named[: most - 1])} 等 {len(named)} 项"
    return "、".join(named)


def under(model: str, switches: Mapping[str, Any]) -> str:
    """Name a model under changed switches: "mini-BERT（缩放 无）"."""
    return f"{model}（{changes(switches, most=3)}）"


def weights(*, trained: bool, redrawn: float | None) -> str:
    """Say what the weights of a model are: "未训练", "已训练，其中 15.7 % 重新随机", or "已训练"."""
    if not trained:
        return "未训练"
    if not redrawn:
        return "已训练"
    return f"已训练，其中 {share(redrawn)} 重新随机"


def share(redrawn: float) -> str:
    """Write a share of the weights in percent, never rounded to none and never to all: "15.7 %", "不到 0.1 %"."""
    if redrawn == 1:
        return "100 %"
    if 0 < redrawn < 0.001:
        return "不到 0.1 %"
    return "超过 99.9 %" if redrawn > 0.999 else f"{100 * redrawn:.1f} %"


def variant(switches: Mapping[str, Any], *, seed: int, trained: bool, redrawn: float | None) -> str:
    """Say over a picture what a variant's weights are and what was changed in it."""
    changed = f"改动：{changes(switches)}。"
    if not trained:
        return f"{changed}权重与原来一样是随机的。"
    if not redrawn:
        return f"{changed}权重都是训练所得，没有重新随机的部分；但训练时没有这项改动。"
    return f"{changed}已训练，其中 {share(redrawn)} 的权重由随机种子 {seed} 重新产生，什么也没学过。"


def reset_help(*, side: str) -> str:
    """Say what Reset does to a side."""
    return f"把 {side} 还原为模型原样"


def group(name: str) -> str:
    """Name a group of switches, a key of GROUPS."""
    return _GROUPS[name]


def field_of(*, name: str, side: str) -> str:
    """Name one side's field of a switch."""
    return f"{side} 的{name}"


def seed_of(*, side: str) -> str:
    """Name the seed of a side."""
    return f"{side} 的随机种子"


def stays(*, side: str) -> str:
    """Say that a side is not changed."""
    return f"{side} 侧保持不变"


def changed_name(*, name: str, usual: str) -> str:
    """Write the name of a changed switch, with its usual value."""
    return f"**{name}**（原为 {usual}）"
