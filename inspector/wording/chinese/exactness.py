"""Words of the badge in the sidebar, in Chinese: which parts of a recording were held to a second run of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.wording.english import exactness as english

if TYPE_CHECKING:  # which comes with torch
    from inspector.self_checks import Exactness, HeldMixers
    from models.tokenizers import Cut

LONG = "文本较长，重新运行一次与读取它一样费时，因此等你要求时才运行"
NO_MODEL = "这份存档所用的模型不在本机；用列表中的模型记录这段文本，就能核对"
GIVEN = "这些权重是在别处算好后给定的：没有可以重新运行的模型，除权重外一无所知。"
RUN_AGAIN = "运行独立核对"
_WHY_NOT = {english.LONG: LONG, english.NO_MODEL: NO_MODEL}
"""The reasons against a second run, by their English sentences, in which a recording keeps them."""
_PLACES = {" on ": "，在 ", ", spread over ": "，分布在 ", " and ": "、", ", ": "、", "disk": "磁盘", "cpu": "CPU"}
_UNITS = {"tokens": "个 token", "characters": "个字符"}


def title(checked: Exactness) -> str:
    """Say in the badge whether all that is shown was held to a second run of the model."""
    if not checked.holds:
        return "此文本上不精确"
    if checked.given:
        return "外部给定，未核对"
    kernel = "，用融合内核记录" if checked.fused else ""
    return (
        f"已记录，未核对{kernel}"
        if checked.second is None
        else f"此文本上精确，误差 ≤ {max(checked.second.largest, _of_mixers(checked)):.1e}{kernel}"
    )


def details(checked: Exactness) -> str:
    """List every check and its number, for the badge's mark."""
    total = "至多为 1（一部分归入汇）" if checked.sinks else "为 1"
    lines = [
        f"给定了 {checked.layers} 个注意力层"
        if checked.given
        else f"记录了 {checked.expected} 个注意力层中的 {checked.layers} 个",
        f"没有权重比 1 大出 {checked.row_sum_error:.1e} 以上（sigmoid 的各行之和不固定）"
        if checked.sigmoid
        else f"各行之和{total}，误差不超过 {checked.row_sum_error:.1e}（{checked.dtype} 的舍入可达 "
        f"{checked.row_sum_tolerance:.1e}）",
        "所有权重都是有限值" if checked.finite else "有权重不是有限值",
    ]
    if checked.leaks:
        lines.append(leaks(checked.to_padding).removesuffix("。"))
    if checked.future is not None:
        beyond = "，由模型自己的掩码填充值造成" if checked.future and checked.lets_through else ""
        lines.append(f"落在后面 token 上的最大权重为 {checked.future:.3g}{beyond}")
    if checked.norms is not None:
        lines.append(f"归一化{_held(holds=checked.norms.holds)}")
    if checked.states is not None:
        lines.append(f"残差流{_held(holds=checked.states.holds)}")
    return "；".join(lines) + "。"


def _held(*, holds: bool) -> str:
    return "与模型自己给出的一致" if holds else "与模型自己给出的不一致"


def _of_mixers(checked: Exactness) -> float:
    return 0.0 if checked.mixers is None else checked.mixers.difference


def caption(checked: Exactness) -> str:
    """Say below the badge what was compared, where it differs, or why nothing was compared."""
    return _compared(checked) + ("" if checked.mixers is None else _mixers(checked.mixers))


def _mixers(mixers: HeldMixers) -> str:
    return (
        f"有 {mixers.ran} 层不用 softmax 注意力混合 token，其中 {mixers.shown} 层有图："
        "每一层都与它自己的计算结果核对过。"
    )


def _compared(checked: Exactness) -> str:
    second = checked.second
    if checked.given and checked.holds:
        return GIVEN
    if second is None:
        held = f"没有再运行一次来核对：{_WHY_NOT.get(checked.not_held, '模型没有再运行')}。"
        return held if checked.holds else f"数值本身的一项检查没有通过，见徽标。{held}"
    other = checked.fused or second.fused == second.calls
    code = "用另一套注意力代码" if other else "用模型自己的代码"
    if not second.holds:
        return f"{code}再运行一次，结果与这里显示的不一致。"
    if not checked.holds:
        return "数值本身的一项检查没有通过，见徽标。"
    return f"{code}再运行一次，这里显示的一切与之相差不超过最大数值的这个比例；token、层和归一化都在各自的位置上。"


def cut(cut: Cut) -> str:
    """Say how much of a text is read."""
    unit = _UNITS[cut.unit]
    return f"只读取 {cut.total:,} {unit}中的前 {cut.kept:,} {unit}，略去其余 {cut.total - cut.kept:,} {unit}。"


def leaks(to_padding: float) -> str:
    """Say that a mask leaks; to_padding: the largest share of a row's weight that went to padding."""
    return f"掩码有泄漏：一个 token 的权重最多有 {to_padding:.3g} 落在批次的填充上，因此这些数值不只取决于这段文本。"


def unknown_tokens(count: int, *, of: int) -> str:
    """Say how many of a text's tokens a model does not know."""
    return f"{of} 个 token 中有 {count} 个是这个模型不认识的，模型把它们都读作同一个记号。"


def recorded(*, tokens: int, limit: str, reader: str) -> str:
    """Say how long a recorded text is; limit: of the model; reader: its name in the limit's place, if not "".

    The place is narrow.
    """
    return f"{tokens} 个 token，由 {reader} 读取" if reader else f"{tokens} 个 token{limit}"


def at_most(tokens: int) -> str:
    """Follow a count of tokens with the most that the page reads."""
    return f"，上限 {tokens}"


def weights(words: str) -> str:
    """Follow the place of the weights with what they are."""
    return f"，{words}"


def recording(*, size: str) -> str:
    """Say what counts as a token, and how large the recording is."""
    return f"特殊 token 也计算在内。记录占用 {size}。"


def placed(*, seen: object, where: str, share: str) -> str:
    """Say what a model is and where its weights are; where: as `LoadedModel.placed` writes it."""
    for written, translated in _PLACES.items():
        where = where.replace(written, translated)
    return f"{seen}权重：{where}{share}。"
