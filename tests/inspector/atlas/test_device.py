"""The device of an atlas: what the model computes is computed there; numbers are named by it, and mixed when asked.

torch's meta device computes shapes and no numbers, on any machine: an operand that was left on the CPU shows there as
it would on a GPU. Numbers of a GPU come from tests/benchmarks/atlas_device.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import models
from inspector import atlas
from inspector.atlas import block, manifest, measuring, merging
from inspector.atlas.__main__ import main
from inspector.atlas.relations import PlacedWords, RelationCounter
from inspector.probe.inputs import tokenize_inputs
from models import LoadedModel
from models.output_projection import find
from tests.inspector.atlas.conftest import SENTENCES

COPIES = ("to", "_to_copy", "copy_")
VIEWS = ("detach", "resolve_conj", "resolve_neg", "slice")  # of what was brought back, or is about to be copied
NUMBERS = ("item", "_local_scalar_dense", "is_nonzero", "equal")


class Watched(TorchDispatchMode):
    """Notes each operation that computes with numbers on the CPU, or with operands of both devices.

    Masks and ids are booleans and integers: they are made on the CPU and copied. What a meta tensor cannot give (its
    numbers) is given as zeros, and none of its places as nonzero.
    """

    def __init__(self) -> None:
        super().__init__()
        self.left: list[str] = []
        self.on_device = self.brought_back = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        here = [tensor for tensor in tensors if tensor.device.type == "cpu" and tensor.ndim]
        there = [tensor for tensor in tensors if tensor.device.type == "meta"]
        self.on_device += bool(there)
        name = func.overloadpacket.__name__
        if name in COPIES:
            target = next((torch.device(x) for x in (*args, *kwargs.values()) if isinstance(x, torch.device)), None)
            if there and target == torch.device("cpu"):
                self.brought_back += 1
                return torch.zeros(there[0].shape, dtype=kwargs.get("dtype") or there[0].dtype)
            return func(*args, **kwargs)
        computes = name not in VIEWS and any(tensor.is_floating_point() for tensor in here)
        if (here and there) or computes:
            self.left.append(f"{func} of {[(tensor.device.type, tensor.dtype) for tensor in tensors]}")
        if there and name in NUMBERS:
            return 0.0 if there[0].dtype.is_floating_point else False
        if there and name == "nonzero":
            return torch.zeros((0, there[0].ndim), dtype=torch.long)
        return func(*args, **kwargs)


def run_on_meta(id: str, *, on_band: bool = False) -> Watched:
    """Measure texts of equal length on the meta device, and return what was seen."""
    loaded = models.load(id)
    inputs = tokenize_inputs(loaded, SENTENCES[0], target=SENTENCES[1] if loaded.shape == "encoder-decoder" else None)
    sites, projections = measuring.sites(loaded), find(loaded)
    loaded.network.to("meta")
    grams = measuring.grams(projections, device=torch.device("meta"))
    words = PlacedWords(tuple(range(len(inputs.encoding))), (1,), (2,), ("nsubj",))
    counter = RelationCounter(sites[-1].heads.stop)
    counter.see_sentences([words, words], ids=[0, 1], causal=False)

    def count(band: measuring.Band) -> None:
        if on_band and band.site.stream == "encoder":
            counter.see(band.weights, heads=band.site.heads, sentences=[words, words], ids=[0, 1], causal=False)

    with Watched() as seen:
        made = measuring.measure(loaded, [inputs, inputs], sites=sites, grams=grams, on_band=count)
    assert made.numbers.shape[:2] == (2, sites[-1].heads.stop)
    assert seen.on_device > 100
    assert seen.brought_back > 10
    return seen


@pytest.mark.parametrize("id", ["minilm", "own-encoder", "own-decoder", "own-encoder-decoder"])
def test_no_operand_of_a_block_is_left_on_the_cpu(id: str) -> None:
    assert run_on_meta(id, on_band=id == "minilm").left == []


def test_an_operand_that_is_left_on_the_cpu_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def left(call: Any, gram: torch.Tensor) -> torch.Tensor:
        return (call.value.double() @ torch.zeros(gram.shape, dtype=gram.dtype)).sum(dim=-1).float()

    monkeypatch.setattr(measuring, "_norms", left)
    try:
        seen = run_on_meta("own-encoder").left
    except RuntimeError as error:  # torch refuses some itself
        seen = [str(error)]
    assert seen


# --- what an atlas is named by ----------------------------------------------------------------------------------------


@pytest.fixture
def untrained() -> LoadedModel:
    return models.load("own-encoder")


def on(place: str) -> Callable[[LoadedModel], str]:
    return lambda loaded: place


def test_numbers_of_a_device_are_named_and_merged_with_others_only_when_asked(
    untrained: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU is not at hand: its name is given in its place, and the numbers are the CPU's."""
    monkeypatch.setattr(manifest, "capability", on("cuda: NVIDIA H200"))
    half = iter([False, True])
    atlas.build(untrained, SENTENCES, out=tmp_path, block_texts=6, stop=lambda: next(half))
    assert manifest.read(tmp_path).capability == "cuda: NVIDIA H200"
    monkeypatch.setattr(manifest, "capability", on("AVX512"))
    with pytest.raises(ValueError, match=r"NVIDIA H200.*and this is AVX512.*is not known; allow_mixed"):
        atlas.build(untrained, SENTENCES, out=tmp_path, block_texts=6)
    with pytest.raises(ValueError, match="is not measured yet"):
        merging.merge(tmp_path)
    made = atlas.build(untrained, SENTENCES, out=tmp_path, block_texts=6, allow_mixed=True)
    assert made is not None
    assert [one.partition(",")[0] for one in made.mixed] == ["AVX512"]
    with pytest.raises(ValueError, match=r"was measured on AVX512.*device's numbers are from others is not known"):
        merging.merge(tmp_path)


def test_dtype_reaches_the_workers_and_is_named(tmp_path: Path) -> None:
    made = atlas.build("own-encoder", SENTENCES, out=tmp_path, dtype="bfloat16", block_texts=6)
    assert made is not None
    assert made.manifest.capability.endswith(" in bfloat16")
    whole = atlas.build("own-encoder", SENTENCES, out=tmp_path / "float32", block_texts=6)
    assert whole is not None
    assert made.manifest.model_hash != whole.manifest.model_hash
    assert made.table()["entropy"].to_numpy() == pytest.approx(whole.table()["entropy"].to_numpy(), rel=0.02)
    task = block.MeasureBlock(tmp_path, "own-encoder")
    with pytest.raises(ValueError, match="has changed since the atlas was planned"):
        task(0)
    assert block.MeasureBlock(tmp_path, "own-encoder", dtype="bfloat16")(0) == 6


def test_a_device_that_is_not_there_and_one_without_float64_are_refused(untrained: LoadedModel, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="There is no device 'cuda:99' on this machine"):
        atlas.build("own-encoder", SENTENCES, out=tmp_path, device="cuda:99")
    with pytest.raises(ValueError, match="float64, which mps does not have"):
        atlas.build("own-encoder", SENTENCES, out=tmp_path, device="mps")
    with pytest.raises(ValueError, match="loaded by its id, and own-encoder is loaded"):
        atlas.build(untrained, SENTENCES, out=tmp_path, device="cuda")


def test_gpus_are_not_reserved_for_a_model_on_the_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "few.txt").write_text("A cat.", encoding="utf-8")
    command = ["build", "own-encoder", str(tmp_path / "few.txt"), "--out", str(tmp_path / "out"), "--gpus", "1"]
    assert main(command) == 1
    assert main([*command, "--ray"]) == 1
    assert capsys.readouterr().err.count("add --ray and --device cuda") == 2
    with pytest.raises(SystemExit):
        main(["build", "--help"])
    assert "--device cuda (not run on Ray yet)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.skipif(not Path("/proc/self/smaps").is_file(), reason="needs Linux's /proc")
def test_weights_are_pages_of_their_file(minilm: LoadedModel) -> None:
    """So processes of a machine share them: no page of them belongs to this process alone by having been written."""
    maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    files = [
        (int(low, 16), int(high, 16))
        for (low, _, high), name in ((line[0].partition("-"), line[-1]) for line in maps)
        if name.endswith(".safetensors")
    ]
    places = [parameter.data_ptr() for parameter in minilm.network.parameters()]
    assert all(any(low <= place < high for low, high in files) for place in places)
