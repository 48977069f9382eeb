"""Vocabularies: one text cut in many ways, and how BPE, WordPiece and unigram learn and use their pieces.

```python
from inspector import vocabularies

corpus = vocabularies.Corpus.of("low lower lowest new newer newest wide wider widest")
learned = vocabularies.learn(corpus.marked, merges=8)
[merge.piece for merge in learned.merges]  # ['we', ...]: what byte pair encoding joins, in order
trained = vocabularies.train("bpe", corpus, pieces=8)  # the same, by the trainer of the tokenizers library
vocabularies.by_library(trained, "lower slower").tokens
```

`longest_match` is WordPiece's way through a word, `segmentations` unigram's, `losses` says what a unigram vocabulary
can spare, and `by_model` cuts a text with a model's tokenizer. `dictionary.words` cuts a text into words, Chinese too.
"""

from inspector.vocabularies import dictionary
from inspector.vocabularies.corpus import LONGEST_WORD, MOST_CHARACTERS, Corpus, checked
from inspector.vocabularies.costs import MOST_READ, costs
from inspector.vocabularies.merges import RULES, LearnedMerges, Merge, Rule, learn
from inspector.vocabularies.segmenting import Segmentation, longest_match, losses, segmentations
from inspector.vocabularies.trained import KINDS, MOST_PIECES, Kind, scores, train
from inspector.vocabularies.ways import CutText, by_library, by_model, tokens

__all__ = [
    "KINDS",
    "LONGEST_WORD",
    "MOST_CHARACTERS",
    "MOST_PIECES",
    "MOST_READ",
    "RULES",
    "Corpus",
    "CutText",
    "Kind",
    "LearnedMerges",
    "Merge",
    "Rule",
    "Segmentation",
    "by_library",
    "by_model",
    "checked",
    "costs",
    "dictionary",
    "learn",
    "longest_match",
    "losses",
    "scores",
    "segmentations",
    "tokens",
    "train",
]
