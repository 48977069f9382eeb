"""A question in SmolLM2's chat template, and turns that are found by the ids of its two marks."""

from __future__ import annotations

from models import LoadedModel, dialogue

QUESTION = "What is the capital of France?"


def test_the_template_by_hand(smollm2: LoadedModel) -> None:
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    text = dialogue.templated(smollm2.tokenizer, QUESTION)
    assert dialogue.has_template(smollm2.tokenizer)
    assert text == (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n"
    )
    asked = [{"role": "user", "content": QUESTION}]
    ids = smollm2.tokenizer.apply_chat_template(asked, add_generation_prompt=True)["input_ids"]
    assert list(smollm2.encode(text).ids) == ids  # as text it is cut as the template cuts it


def test_turns(smollm2: LoadedModel) -> None:
    tokenizer = smollm2.tokenizer
    ids = smollm2.encode(dialogue.templated(tokenizer, QUESTION)).ids
    opens, closes = ([place for place, id in enumerate(ids) if id == mark] for mark in (1, 2))
    system, user, assistant = dialogue.turns(tokenizer, ids)
    assert (system.role, user.role, assistant.role) == ("system", "user", "assistant")
    assert [system.start, user.start, assistant.start] == opens
    assert [system.stop, user.stop, assistant.stop] == [closes[0] + 1, closes[1] + 1, len(ids)]
    assert [system.closed, user.closed, assistant.closed] == [True, True, False]
    assert tokenizer.decode(list(ids[user.start : user.stop])) == f"<|im_start|>user\n{QUESTION}<|im_end|>"


def test_what_is_no_dialogue(smollm2: LoadedModel, minilm: LoadedModel) -> None:
    for loaded in (smollm2, minilm):
        assert not dialogue.turns(loaded.tokenizer, loaded.encode(QUESTION).ids)
    assert not dialogue.has_template(minilm.tokenizer)
    broken = smollm2.encode("<|im_start|>user\nHi<|im_start|>system<|im_end|>").ids  # a turn without an end
    turns = dialogue.turns(smollm2.tokenizer, broken)
    assert [(turn.role, turn.closed) for turn in turns] == [("user", False), ("system", True)]
    assert turns[0].stop == turns[1].start
