"""Several texts for what one text decides by chance: the reader's and passages of a book page; intervals of a mean.

```python
gained = interval([0.2, 0.1, 0.4, -0.1])  # the mean of four texts, and where 95 of 100 such means lie
gained.least > 0  # whether the texts agree that there is a gain
```
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from inspector import examples, heads
from inspector.long_texts import PAGES
from inspector.probe import TextLimits, record, record_batch
from inspector.questions.record.subject import Subject
from inspector.trace import Trace

TEXTS = 20
FEWER = 6  # texts for a model that takes long
MOST_WEIGHTS = 50_000_000  # of a model that reads all of them
_SHORTEST = 50, 12  # characters of a passage: English, Chinese
_LONGEST = 160
_ENDS = r"(?:(?<=[.?!])|(?<=[.?!]\"))(?<!Mr\.)(?<!Mrs\.) ", r"(?<=[。？！；])"
_WRITTEN = (
    (
        "Every morning the old baker opens his shop, sweeps the leaves from his door and counts yesterday's coins.",
        "When the storm was over, two boats lay on the beach, and nobody could say whose they were.",
        "The engine failed near the third station, so all passengers had to walk to the next village in the snow.",
    ),
    (
        "每天早上六点，老张都会准时打开店门，先把门前的落叶扫干净。",
        "她把信读了两遍，然后慢慢折好，放进了抽屉里。",
        "孩子们在操场上踢球，笑声传到了教室里，老师也跟着笑了。",
        "因为昨晚下了大雨，河水涨得很高，桥暂时不能通行。",
        "他在图书馆里坐了一下午，终于找到了那本旧书。",
        "火车晚点了两个小时，站台上的人都等得有些不耐烦。",
        "医生告诉她，只要按时吃药，过几天就会好起来。",
        "弟弟想学游泳，可是又怕水，所以一直站在池边看。",
        "奶奶做的面条又细又软，邻居们都说比饭馆里的好吃。",
        "这座小城冬天很冷，但是春天一到，满街都开着花。",
        "天黑以后，山路上只剩下他一个人，他不由得加快了脚步。",
        "老师把试卷发下来，教室里一下子安静了，谁也不敢先说话。",
    ),
)
"""Sentences written for this, English and Chinese: the pages alone are too short."""
_DRAWS = 2000
_TAIL = 0.025


@dataclass(frozen=True)
class Interval:
    """A mean over texts, and the ends of its 95 % interval."""

    mean: float
    least: float
    most: float

    def named(self, name: str) -> dict[str, float]:
        """Name the three numbers for a question: name, name_least, name_most."""
        return {name: self.mean, f"{name}_least": self.least, f"{name}_most": self.most}


def interval(values: ArrayLike, texts: ArrayLike | None = None) -> Interval:
    """Give the mean and its 95 % interval, by drawing the texts anew with replacement (Efron 1979), seed 0.

    values [N]; NaN is left out. texts [N]: the text of each value, where a text has several; they are drawn together.
    NaN for all three where no value is left.
    """
    given = np.asarray(values, dtype=np.float64)
    groups = np.arange(len(given)) if texts is None else np.asarray(texts)
    groups, given = groups[~np.isnan(given)], given[~np.isnan(given)]
    if not len(given):
        return Interval(*[float("nan")] * 3)
    _, of = np.unique(groups, return_inverse=True)
    sums, counts = np.bincount(of, weights=given), np.bincount(of)
    drawn = np.random.default_rng(0).integers(len(sums), size=(_DRAWS, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return Interval(float(given.mean()), *(float(end) for end in np.quantile(means, [_TAIL, 1 - _TAIL])))


def passages(*, english: bool, count: int) -> list[str]:
    """Take `count` passages of whole sentences from a book page and sentences beside it, none twice."""
    at = 0 if english else 1
    space = " " if english else ""
    found, passage = [], ""
    for sentence in re.split(_ENDS[at], PAGES["pride" if english else "home"].text):
        passage = f"{passage}{space}{sentence}".strip()
        if len(passage) >= _SHORTEST[at]:
            found.append(passage)
            passage = ""
    return [passage for passage in (*found, *_WRITTEN[at]) if len(passage) <= _LONGEST][:count]


def traces(subject: Subject) -> list[Trace]:
    """Read the reader's text and passages in the model's language, TEXTS in all, FEWER of a large model; once.

    An encoder-decoder gets each passage as its target too, for only its encoder is looked at.
    """

    def make() -> list[Trace]:
        loaded = subject.loaded
        large = sum(weight.numel() for weight in loaded.network.parameters()) > MOST_WEIGHTS
        english = examples.reads(loaded.card.id, examples.FIRST)
        texts = passages(english=english, count=(FEWER if large else TEXTS) - 1)
        if loaded.shape == "encoder-decoder":
            return [subject.trace, *(record(loaded, text, target=text, limits=TextLimits(tokens=64)) for text in texts)]
        return [subject.trace, *record_batch(loaded, texts)]

    return subject.once("several texts", make)


def heads_of(subject: Subject) -> list[pd.DataFrame]:
    """Measure every head on each of these texts, `inspector.heads.measure`; once."""
    return subject.once("heads of several texts", lambda: [heads.measure(trace) for trace in traces(subject)])
