"""The words of the lab's task kinds: each is one piece of mini-bert's tokenizer, so that its embedding can be taken.

A third of each kind's words is held out: no training sees them, and every test is made of them alone. A network with
embeddings of its own knows nothing of such a word; with trained embeddings it may stand near words that it knows.
"""

from __future__ import annotations

_LISTS = {
    "person": "man woman boy girl father mother brother sister son daughter uncle aunt wife husband king queen lady "
    "gentleman captain doctor friend child servant soldier",
    "animal": "dog horse cat bird fish sheep cow lion bear wolf pig duck elephant",
    "body": "hand foot head eye arm face finger heart neck shoulder mouth nose ear hair knee leg breast cheek",
    "place": "house room church garden street town city village castle school kitchen palace hall park forest river "
    "island shop field mountain valley",
    "food": "bread milk meat tea coffee wine water cake butter sugar egg fruit apple soup dinner breakfast supper beer",
    "time": "day night morning evening hour week month year minute summer winter spring autumn moment afternoon "
    "yesterday tomorrow today",
    "colour": "red green blue white black yellow brown grey pink purple golden silver",
    "act": "go come see take give make say know think find tell ask run walk speak write read hear",
    "number": "one two three four five six seven eight nine ten twenty thirty hundred thousand",
    "feeling": "love fear joy anger hope pride grief sorrow pleasure pain shame delight happiness despair hatred",
}
KINDS = {kind: tuple(words.split()) for kind, words in _LISTS.items()}
"""Ten kinds of words."""
WORDS = tuple(word for words in KINDS.values() for word in words)
"""All words, kind after kind."""
KIND_OF = tuple(kind for kind, words in enumerate(KINDS.values()) for _ in words)
"""The number of each word's kind."""
HELD_OUT = tuple(range(2, len(WORDS), 3))
"""Places in WORDS that no training sees."""
LEARNED = tuple(place for place in range(len(WORDS)) if place not in HELD_OUT)
"""Places in WORDS that a training sees."""
SOURCE, SOURCE_WIDTH = "mini-bert", 192
"""The model whose embeddings can be taken, and their width."""
