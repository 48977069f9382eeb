"""The corpus from which the page learns pieces: a field, two examples, and how many pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.sections.picks import Count, Texts
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    from inspector.sections.subject import Subject

words = wording.pieces

LONGEST = 1_000  # characters of the field, which stands in the link
MOST_PIECES = 150  # beyond the characters
LEAST = 2  # a pair that stands once teaches nothing
EXAMPLES = {
    words.ENGLISH: (
        "The old teacher was teaching a new class. She taught slowly, and the slower she taught, the better they "
        "listened. The newest pupil listened best: he had listened to the wind, the water and the birds long before he "
        "ever listened to a teacher. A low wind is a slow wind; a lower wind is a slower wind. The widest river has "
        "the slowest water, and the lowest water is the warmest.\n"
        "A cat sat by the door and was tired. Another cat sat near it. The tired cat was watching the other cat, and "
        "the other cat was watching the birds. Watching birds is tiring, and a tired cat is a sleeping cat. "
        "When the teacher came home, the cats were sleeping on the table. She was tired too: teaching is tiring. She "
        "sat by the river bank and wondered whether the bank would lend her the money for a newer and lower table."
    ),
    words.CHINESE: (
        "我昨天买了一本新书。今天我又买了一本书，新书很好看。昨天买的书我已经看完了，今天买的书我还没有看。\n"
        "老师说，看书的时候不要说话。我们都喜欢这个老师，因为老师喜欢我们。老师今天没有来学校，同学们都在学校等老师。\n"
        "妈妈昨天去了银行，因为她没有钱了。银行今天没有开门，所以妈妈今天又去了银行。她说银行里没有人，没有人等她。\n"
        "猫坐在垫子上，因为猫累了。我的猫喜欢坐在我的书上，所以我没有办法看书。我说猫不要坐在书上，猫没有听我说话。"
        "今天的天气很好，昨天的天气不好。天气好的时候我们都喜欢去河边，猫也喜欢去河边。\n"
        "妈妈喜欢看书，我也喜欢看书。昨天妈妈买了一本书，今天妈妈又买了一本书。同学们说老师的书很好看，老师说同学们的书"
        "也很好看。学校的同学们今天都去了河边，因为今天的天气很好。老师没有去河边，老师在学校等同学们。我昨天没有去银行，"
        "今天也没有去银行，因为我没有时间。"
    ),
}


def first(subject: Subject) -> str:
    """Return the example in the language of the text, the English one without a text."""
    text = "" if subject.recording is None else subject.recording.text[:LONGEST]
    chinese = any("\u3400" <= letter <= "\u9fff" for letter in text)
    return EXAMPLES[words.CHINESE if chinese else words.ENGLISH]


CORPUS = Texts("corpus", words.CORPUS, first, LONGEST, EXAMPLES, height=190, help=words.corpus_help(LONGEST))
PIECES = Count(
    "pieces",
    words.MORE,
    lambda subject: MOST_PIECES,
    lambda subject: 80,
    width=200,
    help=words.pieces_help(LEAST),
)
