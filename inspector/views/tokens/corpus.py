"""The corpus from which the page learns pieces: a field, two examples, and how many pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.views.shell import widgets

if TYPE_CHECKING:
    from inspector.vocabularies import Corpus

LONGEST = 1_000  # characters of the field, which stands in the link
MOST_PIECES = 150  # beyond the characters
LEAST = 2  # a pair that stands once teaches nothing
EXAMPLES = {
    "English": (
        "The old teacher was teaching a new class. She taught slowly, and the slower she taught, the better they "
        "listened. The newest pupil listened best: he had listened to the wind, the water and the birds long before he "
        "ever listened to a teacher. A low wind is a slow wind; a lower wind is a slower wind. The widest river has "
        "the slowest water, and the lowest water is the warmest.\n"
        "A cat sat by the door and was tired. Another cat sat near it. The tired cat was watching the other cat, and "
        "the other cat was watching the birds. Watching birds is tiring, and a tired cat is a sleeping cat. "
        "When the teacher came home, the cats were sleeping on the table. She was tired too: teaching is tiring. She "
        "sat by the river bank and wondered whether the bank would lend her the money for a newer and lower table."
    ),
    "Chinese": (
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


def chosen(text: str) -> tuple[Corpus, int]:
    """Draw the field and the number; give the corpus and how many pieces are learned beyond its characters.

    text: the sidebar's; the field begins with the example of its language. Raises ValueError for a corpus from which
    nothing can be learned.
    """
    from inspector.vocabularies import Corpus

    chinese = any("\u3400" <= letter <= "\u9fff" for letter in text[:LONGEST])
    first = EXAMPLES["Chinese" if chinese else "English"]
    typed = widgets.text_with_examples(
        "Corpus to learn from",
        "corpus",
        examples=EXAMPLES,
        default=first,
        most=LONGEST,
        height=190,
        help=f"{LONGEST:,} characters at most. Real vocabularies are learned from billions.",
    )
    pieces = widgets.number(
        "Pieces beyond characters",
        "pieces",
        default=80,
        last=MOST_PIECES,
        width=200,
        help=f"As many for BPE, WordPiece and unigram. Only pairs that stand {LEAST} times or more are joined.",
    )
    return Corpus.of(typed), pieces
