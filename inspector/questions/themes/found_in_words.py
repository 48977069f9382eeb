"""Findings about words: syntax, reference, alignment. Questions 133 to 137."""

from __future__ import annotations

import numpy as np

from inspector import interventions
from inspector.questions.record.both import Both
from inspector.questions.record.checks import below
from inspector.questions.record.kinds import ANY
from inspector.questions.record.papers import SINHA_2021
from inspector.questions.record.picture import Bars
from inspector.questions.record.question import Measured, Part, Quantity, Question, See, Theme
from inspector.questions.record.subject import Subject


def _shuffled(subject: Subject) -> Measured:
    found = interventions.reorder(subject.loaded, subject.trace, "shuffle")
    changed = found.changed[np.isfinite(found.changed)]
    if not len(changed):
        raise ValueError("no token of the text has a last state that can be compared")
    picture = Bars(
        subject.trace.tokens,
        found.changed.tolist(),
        Both("change of the last state, share of its length", "最后一层状态的变化，占其长度的比例"),
    )
    return Measured(
        {"median": float(np.median(changed)), "smallest": float(changed.min()), "largest": float(changed.max())},
        picture,
    )


SHUFFLED = Question(
    137,
    asked=Both("Does word order matter to the model?", "词序对模型重要吗？"),
    said=Both(
        "Word order matters less than thought: models that were trained on shuffled sentences do nearly as well.",
        "词序没有想象的那么重要：在打乱词序的句子上训练的模型，效果几乎一样好。",
    ),
    parts=(
        Part(
            Both(
                "With its words shuffled a typical token's state stays within 10 %.",
                "打乱词序后，典型 token 的状态变化不到 10 %。",
            ),
            (below("median", 0.1),),
        ),
        Part(
            Both(
                "With its words shuffled every token's state changes by less than its own length.",
                "打乱词序后，每个 token 状态的变化都小于它自身的长度。",
            ),
            (below("largest", 1.0),),
        ),
    ),
    measure=_shuffled,
    numbers={
        "median": Quantity(Both("change of a token's last state, median", "token 最后一层状态的变化，中位数"), "%"),
        "smallest": Quantity(Both("smallest of all tokens", "各 token 最小值"), "%"),
        "largest": Quantity(Both("largest of all tokens", "各 token 最大值"), "%"),
    },
    setting=Both(
        "The text's tokens in a random order, seed 0, each token compared with itself in the text's own order; of an "
        "encoder-decoder its encoder. The paper trains models on shuffled sentences; here a trained model reads them.",
        "文本的 token 按随机顺序排列，种子 0，每个 token 与原顺序中的自己比较；编码器-解码器取编码器。"
        "论文是用打乱的句子训练模型，这里是让训练好的模型去读打乱的句子。",
    ),
    because=Both(
        "Which words occur together tells much of what tests ask for, so scores after training on shuffled text stay "
        "high. That is no statement about what a model trained on ordinary text does with the order.",
        "哪些词一起出现，已足以回答测试中的大部分问题，所以在打乱的文本上训练后得分仍高。"
        "这并不说明在普通文本上训练的模型如何利用词序。",
    ),
    refuted=Both(
        "A model whose states stay within 10 % when the words of ordinary texts are shuffled.",
        "如果打乱普通文本的词序后，状态变化仍在 10 % 以内，结论就被推翻。",
    ),
    formula=r"\frac{\|h' - h\|}{\|h\|}: \quad <smallest> \ldots <median> \ldots <largest>",
    papers=(SINHA_2021,),
    see=See("positions", {"section": "Does it matter"}),
    of=ANY,
)

THEME = Theme("found_in_words", Both("Found in words", "词语的发现"), (SHUFFLED,))
