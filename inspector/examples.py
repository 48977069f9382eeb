"""The example texts that a reader can take, and the one that each model opens with: a text on which it does well.

```python
from inspector import examples

examples.of("mini-gpt")  # '"I am very glad to see you," said'
examples.offered("smollm2")["Who gets it?"]  # 'When Mary and John went to the store, John gave a drink to'
examples.reads("mini-gpt", "我昨天买了一本新书。")  # False: it has learned English
```
"""

from __future__ import annotations

import unicodedata

EXAMPLES = {
    "Who was tired?": "The cat sat on the mat because it was tired.",
    "One word, two meanings": "She sat by the river bank and wondered whether the bank would lend her the money.",
    "Word pieces": "Antidisestablishmentarianism is an unbelievably long word.",
    "Repetition": "To be or not to be, that is the question: to be or not to be.",
    "A longer paragraph": (
        "Attention lets every token look at every other token and take from it what it needs. Early layers often look "
        "at the neighbours, later layers gather what belongs together, and many heads rest on the separator when they "
        "have nothing to say. None of this was programmed: it grew while the network learned to predict words."
    ),
    "Two sentences": "The trophy does not fit into the suitcase.",
    "Easy to guess": "He shook his head and said that he did not know.",
    "To translate": "When I came home, my mother was cooking.",
    "To write on": '"I am very glad to see you," said',  # mini-gpt ends its sentence, and repeats what was said
    "Facts": "Paris is the capital of France, and Rome is the capital of",  # smollm2 goes on with Italy
    "In Chinese": "我昨天买了一本新书。",
}
_OF_SMOLLM2 = {
    "Who gets it?": "When Mary and John went to the store, John gave a drink to",
    "An opposite": "The opposite of hot is",
    "A language": "Anna is from Spain and speaks Spanish. Pierre is from France and speaks",
    "A line of code": "def add(a, b):\n    return",
    "A dialogue": (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
    ),
}
_MORE = {"smollm2": _OF_SMOLLM2, "smollm2-own": _OF_SMOLLM2}
PAIRS = {"Two sentences": "It is too big."}
FIRST = EXAMPLES["Who was tired?"]
_OF_MODEL = {
    "translator": EXAMPLES["To translate"],
    "mini-bert": EXAMPLES["Easy to guess"],
    "mini-bert-zh": EXAMPLES["In Chinese"],
    "mini-gpt": EXAMPLES["To write on"],
    "smollm2": EXAMPLES["Facts"],
    "smollm2-own": EXAMPLES["Facts"],
}


def of(model: str) -> str:
    """Return the example that a model of the page opens with, whatever switches of it were changed."""
    return _OF_MODEL.get(model.partition("?")[0], FIRST)


def offered(model: str) -> dict[str, str]:
    """Return the examples for a model by their names, those that it alone does well first."""
    return {**_MORE.get(model.partition("?")[0], {}), **EXAMPLES}


def is_of(model: str, text: str) -> bool:
    """Return True if a text is an example that is meant for the model."""
    return text == of(model) or text in _MORE.get(model.partition("?")[0], {}).values()


def of_link(model: str) -> str:
    """Return the text that a link without a text means: FIRST, but Chinese for the model that reads no English."""
    return of(model) if model.partition("?")[0] == "mini-bert-zh" else FIRST


def untouched(text: str) -> bool:
    """Return True if a text is such an example: no reader wrote it, so another model may open with its own."""
    return text in (FIRST, *_OF_MODEL.values(), *_OF_SMOLLM2.values())


def reads(model: str, text: str) -> bool:
    """Return True unless most letters of a text are of other scripts than the one that a bundled model has learned."""
    script = "CJK" if model.partition("?")[0] == "mini-bert-zh" else "LATIN"
    letters = [letter for letter in text if letter.isalpha()]
    known = sum(unicodedata.name(letter, "").startswith(script) for letter in letters)
    return 2 * known >= len(letters)
