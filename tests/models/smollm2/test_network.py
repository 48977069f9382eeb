"""SmolLM2 held to transformers' own LlamaForCausalLM with the same weights, run eagerly and without the seam."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import LlamaForCausalLM

import models
from inspector import examples, heads, record
from models import LoadedModel
from models.decoding import DecodedStep, Decoding
from tests.closeness import assert_close
from tests.rounds import in_turn

pytestmark = pytest.mark.heavy

TEXT = (
    "Alice and Bob went to the shop. Alice gave 12 apples to Bob, and Bob gave 3 pears to Alice because she was hungry."
)
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]
NEW = 12
ENDS = 2  # <|im_end|>


@pytest.fixture(scope="module")
def eager(smollm2: LoadedModel) -> Any:
    """transformers' own class, which shares the weights' memory and nothing else."""
    network = LlamaForCausalLM._from_config(deepcopy(smollm2.config), attn_implementation="eager", dtype=torch.float32)
    network.load_state_dict(smollm2.network.state_dict(), assign=True)
    network.tie_weights()
    network.generation_config.eos_token_id = ENDS
    return network.eval()


def ids_of(loaded: LoadedModel, prompt: str | list[dict[str, str]]) -> Tensor:
    if isinstance(prompt, str):
        return torch.tensor([loaded.encode(prompt).ids])
    made = loaded.tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_tensors="pt")
    ids: Tensor = made["input_ids"]
    return ids


def test_its_facts(smollm2: LoadedModel) -> None:
    assert smollm2.card in models.catalogue()
    assert sum(parameter.numel() for parameter in smollm2.network.parameters()) == smollm2.card.parameters
    assert smollm2.config.architectures == ["LlamaForCausalLM"]
    assert (smollm2.layers, smollm2.max_tokens, smollm2.shape, smollm2.backend) == (30, 8192, "decoder", "probe")
    assert smollm2.predict is not None
    assert smollm2.write is not None
    assert smollm2.linear
    assert smollm2.runner.ends == {ENDS}
    assert smollm2.tokenizer.convert_ids_to_tokens(ENDS) == "<|im_end|>"
    assert smollm2.placed == "float32 on cpu"


def test_it_knows_the_capital_of_france(smollm2: LoadedModel) -> None:
    """Rows of W_Q in another order, or a tensor in another place, would write noise."""
    assert "Paris" in smollm2.generate("The capital of France is", new_tokens=2)
    assert smollm2.generate(examples.of("smollm2"), new_tokens=2).startswith(" Italy")


@torch.no_grad()
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (examples.offered("smollm2")["Who gets it?"], " Mary"),
        ("When Mary and John went to the store, Mary gave a drink to", " John"),
        (examples.offered("smollm2")["An opposite"], " cold"),
        ("Hot is to cold as big is to", " big"),  # it fails, as the example says
        (examples.offered("smollm2")["A language"], " French"),
        (examples.offered("smollm2")["A line of code"], " a"),
    ],
)
def test_its_examples_and_their_limits(text: str, expected: str, smollm2: LoadedModel) -> None:
    assert smollm2.generate(text, new_tokens=1) == expected


@torch.no_grad()
def test_logits_and_every_map(smollm2: LoadedModel, eager: Any) -> None:
    trace = record(smollm2, TEXT)
    out = eager(torch.tensor([trace.encoding.ids]), output_attentions=True)
    assert len(out.attentions) == len(trace.sites) == 30
    for layer, maps in enumerate(out.attentions):
        assert maps.shape[1] == 9
        for head in range(9):
            assert_close(trace.attention(layer=layer, head=head), maps[0, head], relative=1e-5)
    assert_close(smollm2.predict(torch.from_numpy(trace.output.copy())[None]), out.logits, relative=1e-5)


@torch.no_grad()
def test_heads_on_random_repeats(smollm2: LoadedModel, eager: Any) -> None:
    """32 random words twice: what the card says of its heads, counted by plain loops over transformers' eager maps."""
    names = smollm2.tokenizer.convert_ids_to_tokens(list(range(1000, 20_000)))
    words = [name[1:] for name in names if name[0] == "Ġ" and name[1:].isascii() and name[1:].isalpha() and name[4:]]
    drawn = [words[at] for at in np.random.default_rng(0).choice(len(words), 32, replace=False)]
    trace = record(smollm2, " " + " ".join(2 * drawn))
    assert len(trace.encoding) == 64
    table = heads.measure(trace).set_index(["layer", "head"])
    counted = dict[tuple[str, int, int], float]()
    for layer, maps in enumerate(eager(torch.tensor([trace.encoding.ids]), output_attentions=True).attentions):
        for head, weights in enumerate(maps[0].double()):
            counted["induction", layer, head] = sum(float(weights[at, at - 31]) for at in range(32, 64)) / 32
            counted["previous", layer, head] = sum(float(weights[at, at - 1]) for at in range(1, 64)) / 63
            counted["first", layer, head] = sum(float(weights[at, 0]) for at in range(64)) / 64
    for (name, layer, head), share in counted.items():
        assert_close(float(table.loc[(layer, head), name]), share, relative=1e-5, scale=1.0)
    strong = {name: sum(share > 0.5 for (of, *_), share in counted.items() if of == name) for name in table}
    assert (strong["induction"], strong["previous"], strong["first"]) == (7, 8, 137)
    for name, best in (("induction", (18, 6)), ("previous", (11, 1)), ("first", (18, 8))):
        assert max(counted, key=lambda place: (place[0] == name) * counted[place])[1:] == best


@pytest.mark.parametrize("prompt", ["The capital of France is", QUESTION], ids=["text", "dialogue"])
@pytest.mark.parametrize(
    "how", [Decoding(), Decoding(True, temperature=0.8, top_k=40, top_p=0.9, seed=5)], ids=["greedy", "drawn"]
)
def test_writing(prompt: Any, how: Decoding, smollm2: LoadedModel, eager: Any) -> None:
    ids, steps = ids_of(smollm2, prompt), list[DecodedStep]()
    written = smollm2.runner.decode(ids, how, new_tokens=NEW, watch=steps.append)
    drawn = {"temperature": how.temperature, "top_k": how.top_k, "top_p": how.top_p} if how.sampled else {}
    with torch.random.fork_rng():
        torch.manual_seed(how.seed)
        expected = eager.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=NEW,
            do_sample=how.sampled,
            pad_token_id=ENDS,
            **drawn,
        )
    assert written.tolist() == expected.tolist()
    assert [step.token for step in steps] == expected[0, ids.shape[1] :].tolist()


def test_a_dialogue_by_hand(smollm2: LoadedModel) -> None:
    """The template as it is written out; the marks are tokens of their own."""
    ids = ids_of(smollm2, QUESTION)[0].tolist()
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    roles = f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{QUESTION[0]['content']}<|im_end|>\n"
    assert smollm2.tokenizer.decode(ids) == f"{roles}<|im_start|>assistant\n"
    assert [id for id in ids if id < 17] == [1, 2, 1, 2, 1]


@pytest.mark.parametrize("dtype", ["bfloat16", "auto"])
def test_another_dtype(dtype: Any, smollm2_installed: None) -> None:
    loaded = models.load("smollm2", dtype=dtype)
    assert loaded.placed == {"bfloat16": "bfloat16 on cpu", "auto": "float32 on cpu"}[dtype]


def test_it_is_not_spread() -> None:
    with pytest.raises(ValueError, match="this one is small and goes to one device"):
        models.load("smollm2", device="auto", max_memory={"cpu": "1GB"})


# --- in the own Transformer ------------------------------------------------------------------------------------------

PROMPTS = (
    "The capital of France is",
    "Once upon a time, there was a little girl who",
    "Water boils at",
    "My name is Anna. What is my name? Your name is",
    "def add(a, b):\n    return",
    "1, 2, 3, 4, 5,",
    "Roses are red, violets are",
    "The opposite of hot is",
    "She opened the door and",
    "In 1969, humans first",
    "To be or not to be, that is",
    "The three primary colours are",
)
QUESTIONS = (
    "Say hello.",
    "What is 2 + 2?",
    "Name a fruit.",
    "Is the sky blue? Answer yes or no.",
    "Who wrote Hamlet?",
    "Which animal says meow?",
    "Spell the word cat.",
    "What is the capital of Italy?",
)


@pytest.fixture(scope="module")
def own(smollm2_installed: None) -> LoadedModel:
    return models.load("smollm2-own")


def test_the_own_facts(own: LoadedModel, smollm2: LoadedModel) -> None:
    assert own.card in models.catalogue()
    assert (own.layers, own.max_tokens, own.backend) == (30, 8192, "own")
    assert own.runner.ends == smollm2.runner.ends
    assert sum(parameter.numel() for parameter in own.network.parameters()) == own.card.parameters


def test_own_logits_and_maps_at_64_tokens(own: LoadedModel, smollm2: LoadedModel) -> None:
    text = smollm2.tokenizer.decode(smollm2.encode(" ".join([TEXT] * 3)).ids[:64])
    ours, theirs = record(own, text), record(smollm2, text)
    assert len(ours.encoding) == 64
    for layer in range(30):
        for head in range(9):
            expected = theirs.attention(layer=layer, head=head)
            assert_close(ours.attention(layer=layer, head=head), expected, relative=1e-4, scale=1.0)
    logits = [
        loaded.predict(torch.from_numpy(trace.output.copy())[None])
        for loaded, trace in ((own, ours), (smollm2, theirs))
    ]
    assert_close(*logits, relative=1e-4)


ASKED: tuple[Any, ...] = (*PROMPTS, *([{"role": "user", "content": question}] for question in QUESTIONS))


@pytest.mark.heavy
@torch.no_grad()
@pytest.mark.parametrize("prompt", in_turn(ASKED, of=4), ids=str)
def test_a_continuation_in_the_own_transformer(prompt: Any, own: LoadedModel, smollm2: LoadedModel) -> None:
    """To its end, or 50 tokens: after every token the own Transformer's likeliest is the one that follows.

    That is what it writes by itself, which is tried on those that end soon.
    """
    ids = ids_of(smollm2, prompt)
    expected = smollm2.runner.write(ids, 50)
    begun, length = ids.shape[1], expected.shape[1] - ids.shape[1]
    likeliest = own.predict(own.network(expected[:, :-1])[:, begun - 1 :]).argmax(dim=-1)
    assert likeliest.tolist() == expected[:, begun:].tolist()
    assert length == 50 or int(expected[0, -1]) in own.runner.ends
    if length <= 12:
        assert own.runner.write(ids, 50).tolist() == expected.tolist()


def test_switches(smollm2_installed: None) -> None:
    loaded = models.load("smollm2?scale=none")
    assert loaded.card.redrawn == 0
    assert loaded.config.scale == "none"
    assert loaded.runner.ends == {ENDS}
    assert record(loaded, "A cat.").sites
