"""A model in memory: recorded as its folder is, and never changed, whoever trains or runs it meanwhile."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Thread
from typing import Any
from weakref import ref

import numpy as np
import pytest
import torch
import transformers
from torch import nn
from transformers import AutoConfig

import inspector
import models
from inspector import Trace, record
from inspector.memory.held import storages
from models import LoadedModel
from tests.inspector.probe.families import CAPTURED, WITHOUT_SOFTMAX, save
from tests.models.own_models import own

pytestmark = pytest.mark.heavy

TEXT, TARGET = "the cat sat on the log because it was", "the log sat on it"
NAMES = (
    *("bert", "albert", "modernbert", "longformer", "xlnet", "gpt2", "llama", "t5", "bart"),  # through the seam
    *("deberta-v2", "gptj", "bloom"),  # attention of their own, watched at its softmax
    *("gpt_oss", "lfm2", "diffllama", "mamba"),  # learned tensors in what is recorded, replaced modules, no attention
)
FAMILIES = {family.name: family for family in (*CAPTURED, *WITHOUT_SOFTMAX) if family.name in NAMES}


def saved_class(folder: Path) -> Any:
    return getattr(transformers, AutoConfig.from_pretrained(folder).architectures[0])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            save(FAMILIES[name], made[name])
        return made[name]

    return folder


@pytest.fixture
def pair(folders: Callable[[str], Path], request: pytest.FixtureRequest) -> tuple[LoadedModel, Any]:
    """A folder as it is loaded, and the same model as transformers gives it to its user, in training."""
    folder = folders(request.param)
    return models.load(folder), saved_class(folder).from_pretrained(folder).train()


def target_of(loaded: LoadedModel) -> dict[str, str]:
    return {"target": TARGET} if loaded.shape == "encoder-decoder" else {}


def run(model: Any, **asked: bool) -> None:
    ids = torch.tensor([[4, 5]])
    model(ids, **({"decoder_input_ids": ids} if model.config.is_encoder_decoder else {}), **asked)


def assert_same(trace: Trace, expected: Trace) -> None:
    """Hold maps, scores, mixers, norms and states of two traces to each other, bit for bit."""
    assert trace.sites == expected.sites
    assert trace.mixer_sites == expected.mixer_sites
    for site in expected.sites:
        place = {"layer": site.layer, "stream": site.stream, "call": site.call}
        np.testing.assert_array_equal(trace.attention(**place), expected.attention(**place))
        np.testing.assert_array_equal(trace.scores(**place), expected.scores(**place))
    for site in expected.mixer_sites:
        mine, theirs = (
            next(seen.mixer(layer=site.layer, kind=site.kind).of_head(1).core.blocks(queries=slice(0, 9)))
            for seen in (trace, expected)
        )
        assert torch.equal(mine[1], theirs[1])
    assert [norm.name for norm in trace.norms] == [norm.name for norm in expected.norms]
    for norm, other in zip(trace.norms, expected.norms, strict=True):
        np.testing.assert_array_equal(norm.output, other.output)
    assert torch.equal(trace.hidden, expected.hidden)


def state(model: nn.Module) -> list[object]:
    """List everything of a model that its owner can tell: attributes, mode, hooks, settings, gradients, weights."""
    parts: list[object] = [
        (name, module.training, list(vars(module)), hooks(module)) for name, module in model.named_modules()
    ]
    configs = {id(module.config): module.config for module in model.modules() if hasattr(module, "config")}
    parts += [(config._attn_implementation, list(vars(config)), config.to_dict()) for config in configs.values()]
    parts.append(model.generation_config.to_dict() if getattr(model, "generation_config", None) else None)
    for name, parameter in model.named_parameters():
        grad = None if parameter.grad is None else (id(parameter.grad), parameter.grad._version)
        parts.append((name, id(parameter), parameter.data_ptr(), parameter._version, parameter.requires_grad, grad))
    parts += [(name, id(buffer), buffer.data_ptr(), buffer._version) for name, buffer in model.named_buffers()]
    return parts


def hooks(module: nn.Module) -> list[object]:
    tables = {name: value for name, value in vars(module).items() if "_hooks" in name and isinstance(value, dict)}
    return [(name, list(hooks.items())) for name, hooks in tables.items()]


@pytest.mark.parametrize("pair", NAMES, indirect=True)
def test_maps_are_those_of_the_folder_and_the_weights_are_one_memory(pair: tuple[LoadedModel, Any]) -> None:
    loaded, model = pair
    run(model, output_hidden_states=True)  # transformers puts in hooks of its own, once
    before = state(model)
    trace = record(model, TEXT, tokenizer=loaded.tokenizer, **target_of(loaded))
    assert_same(trace, record(loaded, TEXT, **target_of(loaded)))
    assert state(model) == before
    mine = models.of(model)
    assert "hooks" not in mine.card.summary
    facts = ("shape", "layers", "max_tokens", "backend", "linear", "start", "fills_masks")
    assert [getattr(mine, name) for name in facts] == [getattr(loaded, name) for name in facts]
    assert (mine.write is None, mine.predict is None) == (loaded.write is None, loaded.predict is None)
    twins, theirs = (storages([*net.parameters(), *net.buffers()]) for net in (mine.network, model))
    assert twins.keys() <= theirs.keys()
    assert len({id(parameter) for parameter in mine.network.parameters()} & set(map(id, model.parameters()))) == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_twin_is_kept_while_nothing_changes_and_goes_with_its_model(
    folders: Callable[[str], Path], name: str
) -> None:
    folder = folders(name)
    loaded, model = models.load(folder), saved_class(folder).from_pretrained(folder)
    mine = models.of(model, tokenizer=loaded.tokenizer)
    run(model)
    assert models.of(model) is mine
    with torch.no_grad():
        next(model.parameters()).mul_(1)
    anew = models.of(model)
    assert anew is not mine
    assert (anew.card, anew.tokenizer) == (mine.card, mine.tokenizer)
    twins = ref(mine.network), ref(anew.network)
    del mine, anew
    assert twins[1]() is not None
    del model
    gc.collect()
    assert [twin() for twin in twins] == [None, None]


@pytest.mark.parametrize("pair", NAMES, indirect=True)
def test_a_step_of_training_is_seen_by_the_next_recording_and_by_no_earlier_trace(
    pair: tuple[LoadedModel, Any], tmp_path: Path
) -> None:
    loaded, model = pair
    untouched = record(loaded, TEXT, **target_of(loaded))
    earlier = record(model, TEXT, tokenizer=loaded.tokenizer, **target_of(loaded))  # none of its maps was asked for yet
    before = models.of(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimiser.step()
    assert_same(earlier, untouched)
    now = record(model, TEXT, **target_of(loaded))
    assert not torch.equal(now.hidden, earlier.hidden)
    assert_same(record(before, TEXT, **target_of(loaded)), now)
    model.save_pretrained(tmp_path)
    loaded.tokenizer.save_pretrained(tmp_path)
    assert_same(now, record(models.load(tmp_path), TEXT, **target_of(loaded)))


@pytest.mark.parametrize(
    "switches",
    [
        *({"score": score} for score in ("general", "cosine", "additive")),
        *({"positions": positions} for positions in ("t5", "shaw", "xl")),
        {"norm": "rms"},
        {"norm": "batch"},
    ],
    ids=str,
)
def test_a_network_of_this_project_in_training(switches: dict[str, str]) -> None:
    loaded, model = own("encoder", dropout=0.5, **switches), own("encoder", dropout=0.5, **switches).runner.whole
    model.requires_grad_(True).train()
    before = state_of_own(model)
    earlier = record(model, TEXT, tokenizer=loaded.tokenizer)
    assert state_of_own(model) == before
    model.zero_grad()
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    torch.optim.AdamW(model.parameters(), lr=0.01).step()
    assert_same(earlier, record(loaded, TEXT))
    stepped = own("encoder", dropout=0.5, **switches)
    stepped.runner.whole.load_state_dict(model.state_dict())
    assert_same(record(model, TEXT), record(stepped, TEXT))


def state_of_own(model: nn.Module) -> list[object]:
    modules = [(module.training, list(vars(module)), hooks(module)) for module in model.modules()]
    return [*modules, *((parameter.requires_grad, parameter._version) for parameter in model.parameters())]


@pytest.mark.parametrize("pair", ["bert", "gptj", "longformer"], indirect=True)
def test_nothing_of_the_model_changes_while_it_is_recorded(pair: tuple[LoadedModel, Any]) -> None:
    loaded, model = pair
    model.eval()
    ids = torch.tensor([loaded.encode(TEXT).ids])
    seen: list[int] = []
    model.register_forward_hook(lambda module, given, output: seen.append(len(given)))
    model.base_model.register_forward_pre_hook(lambda module, given: None)
    alone = model(ids).logits
    alone.sum().backward()
    before, during = state(model), list[bool]()

    def look() -> None:
        during.append(state(model) == before)
        during.append(torch.equal(model(ids).logits, alone))
        during.append(model(ids).logits.requires_grad)

    def progress(done: float, total: int) -> None:
        other = Thread(target=look)
        other.start()
        other.join()

    def grads() -> Iterator[torch.Tensor]:
        return (parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None)

    summed = list(grads())
    record(model, TEXT, tokenizer=loaded.tokenizer, on_progress=progress)
    assert during
    assert all(during)
    assert len(seen) == 1 + 2 * len(during) // 3  # those of the owner's forwards, and none of the recording's
    assert state(model) == before
    assert all(map(torch.equal, summed, grads()))
    assert models.of(model).card.summary.endswith("Its hooks do not run here.")


@pytest.mark.heavy
@pytest.mark.parametrize("pair", ["bert", "deberta-v2", "gpt_oss"], indirect=True)
def test_ten_threads_of_which_five_run_the_model_and_five_record_it(pair: tuple[LoadedModel, Any]) -> None:
    loaded, model = pair
    texts = [TEXT, "the dog", "it was tired because the mat", "on", "the dog sat on the log"]
    expected = {text: digest(record(loaded, text)) for text in texts}
    ids = {text: torch.tensor([loaded.encode(text).ids]) for text in texts}
    logits = {text: model.eval()(read).logits.detach() for text, read in ids.items()}
    before, together = state(model), Barrier(10)

    def work(number: int) -> list[bool]:
        together.wait()
        done = []
        for text in texts * 4:
            if number % 2:
                done.append(torch.equal(model(ids[text]).logits, logits[text]))
            else:
                done.append(digest(record(model, text, tokenizer=loaded.tokenizer)) == expected[text])
        return done

    with ThreadPoolExecutor(10) as pool:
        for done in pool.map(work, range(10)):
            assert all(done)
    assert state(model) == before


def digest(trace: Trace) -> str:
    maps = [trace.attention(layer=site.layer, stream=site.stream, call=site.call) for site in trace.sites]
    return hashlib.sha256(b"".join(array.tobytes() for array in [*maps, trace.hidden.numpy()])).hexdigest()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["llama", "t5"])
def test_half_precision_is_kept(folders: Callable[[str], Path], name: str, dtype: torch.dtype) -> None:
    folder = folders(name)
    loaded = models.load(folder, dtype=dtype)
    model = saved_class(folder).from_pretrained(folder, dtype=dtype)
    assert_same(
        record(model, TEXT, tokenizer=loaded.tokenizer, **target_of(loaded)), record(loaded, TEXT, **target_of(loaded))
    )
    assert models.of(model).placed == loaded.placed


@pytest.mark.parametrize("name", ["bert", "llama", "t5"])
def test_ids_are_read_as_they_are(folders: Callable[[str], Path], name: str) -> None:
    loaded = models.load(folders(name))
    expected = record(loaded, TEXT, **target_of(loaded))
    for ids in (list(expected.encoding.ids), torch.tensor(expected.encoding.ids), np.array(expected.encoding.ids)):
        trace = record(loaded, tokens=ids, **target_of(loaded))
        assert trace.tokens == expected.tokens
        assert digest(trace) == digest(expected)
    model = saved_class(folders(name)).from_pretrained(folders(name))
    trace = record(model, tokens=[7, 4, 3], tokenizer=loaded.tokenizer)
    assert trace.encoding.ids == (7, 4, 3)  # 3 ends a text, and is read all the same
    if name == "llama":
        assert trace.sites[0].predicts == (*loaded.tokenizer.convert_ids_to_tokens([4, 3]), None)


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_without_a_tokenizer_tokens_are_named_by_their_ids(folders: Callable[[str], Path], name: str) -> None:
    model = saved_class(folders(name)).from_pretrained(folders(name))
    trace = record(model, tokens=[7, 4, 299])
    assert (trace.tokens, trace.text) == (("<7>", "<4>", "<299>"), "<7> <4> <299>")
    with pytest.raises(ValueError, match=r"given without a tokenizer.* give the text's ids as tokens=\["):
        record(model, TEXT)
    if name != "t5":  # its target is what it wrote
        expected = record(models.load(folders(name)), tokens=[7, 4, 299])
        assert torch.equal(trace.hidden, expected.hidden)
    assert len(inspector.heads.measure(trace)) == sum(site.heads for site in trace.sites)


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_every_section_is_written_without_a_tokenizer(
    folders: Callable[[str], Path], name: str, tmp_path: Path
) -> None:
    model = saved_class(folders(name)).from_pretrained(folders(name))
    trace = record(model, tokens=[7, 4, 20, 299, 4])
    inspector.report(trace, tmp_path / "report.html", loaded=models.of(model))
    assert "&lt;299&gt;" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("tokens", "told"),
    [
        ([], r"tokens are '\[\]', no sequence of ids"),
        ("abc", "tokens are 'abc', no sequence of ids"),
        (5, "tokens are '5', no sequence of ids"),
        ([1, 300], r"token 1 is 300: the model has ids from 0 to 299"),
        ([-1], r"token 0 is -1: the model has ids"),
        ([1, "\x1b[31m"], r"token 1 is '\\x1b\[31m', a str"),
        ([True], "token 0 is 'True', a bool"),
        ([1.0], "token 0 is '1.0', a float"),
        (torch.tensor([[1, 2]]), r"token 0 is '\[1, 2\]', a list: give ids of one text"),
        ([1] * 65, r"tokens are 65 ids, and .* reads at most 64 here"),
    ],
    ids=str,
)
def test_what_are_no_ids_of_the_model_is_a_sentence(folders: Callable[[str], Path], tokens: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        record(models.load(folders("bert")), tokens=tokens)
    with pytest.raises(ValueError, match="tokens stand in the place of a text"):
        record(models.load(folders("bert")), TEXT, tokens=[1])


@pytest.mark.parametrize("pair", ["gpt2"], indirect=True)
def test_the_doors_beside_record_take_the_model_too(pair: tuple[LoadedModel, Any]) -> None:
    loaded, model = pair
    trace = record(model, TEXT, tokenizer=loaded.tokenizer)
    assert inspector.hold(model, trace).holds
    for mine, theirs in zip(
        inspector.record_batch(model, [TEXT, "the cat"]), inspector.record_batch(loaded, [TEXT, "the cat"]), strict=True
    ):
        assert_same(mine, theirs)
    blocks = inspector.record_blocks(model, trace)
    assert blocks.layers
    assert len(blocks.layers) == len(inspector.record_blocks(loaded, record(loaded, TEXT)).layers)
    written, expected = (inspector.generating.write(given, TEXT, new_tokens=4) for given in (model, loaded))
    assert written.texts == expected.texts
    assert inspector.beams.search(model, TEXT, beams=2, new_tokens=3).nodes
    assert len(inspector.record_routing(model, trace).layers) == 0
    assert inspector.questions.ask(41, model, TEXT).numbers == inspector.questions.ask(41, loaded, TEXT).numbers
    with pytest.raises(
        ValueError, match=r"this is no loaded model but a GPT2LMHeadModel.*what models\.of makes of a model"
    ):
        inspector.interventions.drop(model, TEXT, heads=[(0, 0)])
    assert inspector.interventions.drop(models.of(model), TEXT, heads=[(0, 0)]).before.tokens == trace.tokens
