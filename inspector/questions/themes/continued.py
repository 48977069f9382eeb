"""Passages that a decoder reads, written for this project, and its loss on them: no model was trained on them.

```python
read = batch_of(subject)  # ids [3, 128]
loss(subject, read)  # nats a token
```
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

import models
from inspector.questions.record.both import UnanswerableError
from inspector.questions.record.subject import Subject

READ = 128  # tokens of each passage
READ_BY_LARGE = 48  # tokens of each, for a model of more than LARGE numbers: a question is answered in seconds
LARGE = 50_000_000
LEAST = 32  # tokens, so that a loss is the mean of enough of them

PASSAGES = (
    "When the rain had stopped, Martha put on her old coat and walked down to the harbour. The boats lay close "
    "together, and the men who had come back in the night were mending their nets without a word. She looked for her "
    'brother among them, but nobody had seen him since the morning before. "He went out alone," said the old man at '
    'the end of the pier, "and he took no bread with him. I told him that the wind would turn." She thanked him and '
    "went on to the little house where the light was kept. There was no light in the window, and the door stood open. "
    "On the table she found a letter with her own name upon it, and beside it the key of the boat. She sat down, and "
    "for a long time she did not dare to open it. Then she heard a step upon the stairs, slow and heavy, as of a man "
    "who is very tired, and she knew that he had come home after all.",
    "The doctor had lived for twenty years in the same street, and he knew every family in it. In the morning he read "
    "the newspaper and drank his coffee; in the afternoon he visited those who were too weak to come to him. One day a "
    "boy whom he had never seen before stood at his door and asked him to come at once. They walked quickly through "
    'the park and over the bridge, until they came to a large grey building with a high wall. "My father is waiting '
    'for you upstairs," said the boy, and he would not answer any question. The room was dark and cold. In the middle '
    "of it stood a bed, and in the bed lay a man whose face the doctor remembered very well, although he had not seen "
    'it since they were students together. "You have grown old," said the man with a smile, "and so have I. Sit down, '
    'my friend, for I have a story to tell you, and there is not much time left."',
    "It was late in the summer when the two sisters decided to leave the city. They had saved enough money to rent a "
    "small farm in the hills, with a garden, six hens and a cow. At first everything was difficult. The roof let in "
    "the water, the hens would not lay, and the cow ran away twice and had to be brought back by the neighbours, who "
    "laughed at them. But the older sister would not give up. She wrote down everything that went wrong in a little "
    "green book, and every evening they read in it together and thought of what could be done. By the time the snow "
    'came, the roof was dry, there was wood behind the house, and the kitchen smelled of bread. "If anybody had told '
    'me this a year ago," said the younger sister, "I should not have believed a word of it." The other said nothing. '
    "She took the green book, wrote down the day, and closed it for the last time.",
)


def batch_of(subject: Subject) -> Tensor:
    """Encode the passages, cut to one length -> ids [3, T]; see READ."""
    return _cut(subject, PASSAGES, READ_BY_LARGE if is_large(subject) else READ)


def is_large(subject: Subject) -> bool:
    """Return True for a model that takes seconds to read the passages."""
    return sum(weights.numel() for weights in subject.loaded.network.parameters()) > LARGE


def row_of(subject: Subject, *, tokens: int) -> Tensor:
    """Encode the passages one after the other as one text -> ids [1, T], T at most `tokens`."""
    return _cut(subject, (" ".join(PASSAGES),), tokens)


def _cut(subject: Subject, texts: tuple[str, ...], tokens: int) -> Tensor:
    read = [subject.loaded.tokenizer.encode(text, verbose=False)[:tokens] for text in texts]
    shortest = min(map(len, read))
    if shortest < LEAST:
        raise UnanswerableError(
            f"{subject.loaded.card.id} makes {shortest} tokens of a passage of 900 letters; {LEAST} are needed.",
            f"{subject.loaded.card.id} 把 900 个字母的短文只分成 {shortest} 个 token，而这个问题需要 {LEAST} 个。",
        )
    return torch.tensor([ids[:shortest] for ids in read])


def logits_of(loaded: models.LoadedModel, ids: Tensor, *, since: int = 0) -> Tensor:
    """Read ids [B, T] -> the logits of the next token after each from place `since` on, float64 [B, T - since, V]."""
    assert loaded.predict is not None
    with torch.inference_mode():
        hidden = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
        return loaded.predict(hidden[:, since:]).double()


def losses(logits: Tensor, ids: Tensor) -> Tensor:
    """Give -ln p of every token but the first: logits [B, T, V], ids [B, T] -> nats [B, T - 1]."""
    logs = logits[:, :-1].log_softmax(dim=-1)
    return -logs.gather(-1, ids[:, 1:, None])[..., 0]


def loss(loaded: models.LoadedModel, ids: Tensor) -> float:
    """Read ids [B, T] -> the mean loss in nats a token."""
    mean = float(losses(logits_of(loaded, ids), ids).mean())
    return mean if math.isfinite(mean) else math.inf
