"""Book pages that are at hand offline: long enough that most of the models here cannot read them at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class BookPage:
    """The opening of a book in the public domain."""

    title: str
    author: str
    year: int
    text: str


Page = Literal["pride", "home"]
PAGES: dict[Page, BookPage] = {
    "pride": BookPage(
        "Pride and Prejudice",
        "Jane Austen",
        1813,
        "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of "
        "a wife. However little known the feelings or views of such a man may be on his first entering a "
        "neighbourhood, this truth is so well fixed in the minds of the surrounding families, that he is considered "
        'the rightful property of some one or other of their daughters. "My dear Mr. Bennet," said his lady to him one '
        'day, "have you heard that Netherfield Park is let at last?" Mr. Bennet replied that he had not. "But it is," '
        'returned she; "for Mrs. Long has just been here, and she told me all about it." Mr. Bennet made no answer. '
        '"Do you not want to know who has taken it?" cried his wife impatiently. "You want to tell me, and I have no '
        'objection to hearing it." This was invitation enough. "Why, my dear, you must know, Mrs. Long says that '
        "Netherfield is taken by a young man of large fortune from the north of England; that he came down on Monday "
        "in a chaise and four to see the place, and was so much delighted with it, that he agreed with Mr. Morris "
        "immediately; that he is to take possession before Michaelmas, and some of his servants are to be in the house "
        'by the end of next week." "What is his name?" "Bingley." "Is he married or single?" "Oh! Single, my dear, to '
        'be sure! A single man of large fortune; four or five thousand a year. What a fine thing for our girls!" '
        '"How so? How can it affect them?" "My dear Mr. Bennet," replied his wife, "how can you be so tiresome! You '
        'must know that I am thinking of his marrying one of them." "Is that his design in settling here?" "Design! '
        "Nonsense, how can you talk so! But it is very likely that he may fall in love with one of them, and therefore "
        'you must visit him as soon as he comes." "I see no occasion for that. You and the girls may go, or you may '
        "send them by themselves, which perhaps will be still better, for as you are as handsome as any of them, Mr. "
        'Bingley may like you the best of the party." "My dear, you flatter me. I certainly have had my share of '
        "beauty, but I do not pretend to be anything extraordinary now. When a woman has five grown-up daughters, she "
        'ought to give over thinking of her own beauty." "In such cases, a woman has not often much beauty to think '
        'of." "But, my dear, you must indeed go and see Mr. Bingley when he comes into the neighbourhood." "It is more '
        'than I engage for, I assure you."',
    ),
    "home": BookPage(
        "故乡",
        "鲁迅",
        1921,
        "我冒了严寒，回到相隔二千余里，别了二十余年的故乡去。时候既然是深冬；渐近故乡时，天气又阴晦了，冷风吹进船舱中，呜呜的响，从"
        "篷隙向外一望，苍黄的天底下，远近横着几个萧索的荒村，没有一些活气。我的心禁不住悲凉起来了。阿！这不是我二十年来时时记得的故"
        "乡？我所记得的故乡全不如此。我的故乡好得多了。但要我记起他的美丽，说出他的佳处来，却又没有影像，没有言辞了。仿佛也就如此。于"
        "是我自己解释说：故乡本也如此，——虽然没有进步，也未必有如我所感的悲凉，这只是我自己心情的改变罢了，因为我这次回乡，本没有什么"
        "好心绪。",
    ),
}
