"""python -m models.train from its command line: learns, says what is wrong, stops and goes on."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from models import train
from models.checkpoints.store import read_checkpoint
from models.files import read_tensors, write_tensors
from models.training import corpus, finish, history, loop, metrics, recipes, replay
from models.training.evaluation import translate
from models.training.recipes import MINI_BERT, MINI_BERT_ZH, MINI_GPT, RECIPES, TRANSLATOR
from models.training.tasks import prepare
from tests.closeness import assert_close

PAIRS = "".join(
    f"I have {n} red cats.\t我有{n}只红色的猫。\tCC-BY 2.0 (France) by #1 (ann) & #2 (bo)\n" for n in range(40)
)
BOOK = "".join(f"Alice saw {n} white rabbits, and then she went to sleep.\n" for n in range(40))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / corpus.PAIRS["train"]).write_text(PAIRS, encoding="utf-8")
    for split in ("valid", "test"):  # short: with sacreBLEU installed they are translated, also with a beam
        (folder / corpus.PAIRS[split]).write_text("".join(PAIRS.splitlines(keepends=True)[:4]), encoding="utf-8")
    for name in corpus.BOOKS.values():
        (folder / name).write_text(BOOK, encoding="utf-8")
    tiny = {
        "vocabulary": 330,
        "layers": 1,
        "width": 16,
        "heads": 2,
        "ffn_width": 32,
        "batch_tokens": 128,
        "rows": 4,
        "max_positions": 64,
    }
    for name in corpus.CHINESE_BOOKS.values():
        (folder / name).write_text("".join(f"却说{n}只兔子，往山里去了。\n" for n in range(40)), encoding="utf-8")
    for recipe in (TRANSLATOR, MINI_BERT, MINI_BERT_ZH, MINI_GPT):
        small = replace(recipe, **tiny, evaluations=2, epochs=2, steps=None)
        if recipe is MINI_GPT:  # its first phase has batches of 8 texts of 48 tokens
            small = replace(small, kv_heads=1, repeat_steps=4)
        monkeypatch.setitem(RECIPES, recipe.name, small)
    return folder


@pytest.mark.parametrize(
    ("name", "implementation", "maker"),
    [
        ("translator", "own", "the own Transformer"),
        ("translator", "torch", "torch.nn.Transformer, the yardstick"),
        ("mini-bert", "own", "the own Transformer"),
        ("mini-bert", "transformers", "transformers' BertForMaskedLM, the yardstick"),
        ("mini-bert-zh", "own", "the own Transformer"),
        ("mini-gpt", "own", "the own Transformer"),
        ("mini-gpt", "transformers", "transformers' GPT2LMHeadModel, the yardstick"),
    ],
)
def test_all_models_train_from_files_and_leave_a_card(
    name: str, implementation: str, maker: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = [name, "--data", str(data), "--out", str(out), "--implementation", implementation]
    assert train.main(arguments) == 0, capsys.readouterr().err
    assert "Done: parameters" in capsys.readouterr().out
    card = (out / "checkpoint" / "CARD.md").read_text(encoding="utf-8")
    for section in ("Data", "Attribution", "Recipe", "Hardware and time", "Curves", "Scores", "Limits"):
        assert f"\n## {section}\n" in card
    assert "by 2 contributors of tatoeba.org, the most frequent first: ann, bo." in card
    assert f"parameters in {maker}" in card
    assert str(tmp_path) not in card
    assert sorted(path.name for path in (out / "checkpoint").iterdir()) == (
        ["CARD.md", "config.json", "metrics.csv", "model.safetensors", "replay.safetensors", "tokenizer.json"]
        if implementation == "own"
        else ["CARD.md"]
    )


def test_the_yardsticks_scores_stand_on_the_card(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, yardstick = tmp_path / "own", tmp_path / "yardstick"
    begun = ["translator", "--data", str(data)]
    assert train.main([*begun, "--out", str(own), "--beside", str(yardstick)]) == 2
    assert "scores.csv: the training in" in capsys.readouterr().err
    assert train.main([*begun, "--out", str(yardstick), "--implementation", "torch"]) == 0
    assert train.main([*begun, "--out", str(own), "--resume", "--beside", str(yardstick)]) == 0
    cells = {}
    for folder, name in ((own, "own"), (yardstick, "yardstick")):
        for line in (folder / "checkpoint" / "CARD.md").read_text(encoding="utf-8").splitlines():
            if line.startswith("| perplexity (valid, weights in half precision)"):
                cells[name] = [cell.strip() for cell in line.split("|")[2:-1]]
    assert len(cells["own"]) == 2
    assert cells["own"][1:] == cells["yardstick"]
    card = (own / "checkpoint" / "CARD.md").read_text(encoding="utf-8")
    assert "| measured | result | beside it |" in card
    steps = f"{finish.read_scores(own)['trained'].rpartition(', ')[2]}"
    assert f"the own Transformer of Headlight, {steps} | torch.nn.Transformer, the yardstick, {steps} |" in card


def test_a_yardstick_of_the_other_objective_is_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["mini-bert", "--data", str(data), "--out", str(tmp_path / "out"), "--implementation", "torch"]
    assert train.main(arguments) == 2
    assert "no torch yardstick of mini-bert: choose own or transformers" in capsys.readouterr().err


def test_what_was_trained_is_loaded_again(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert train.main(["translator", "--data", str(data), "--out", str(out)]) == 0
    shipped = read_checkpoint(out / "checkpoint")
    state = read_tensors(out / "state.safetensors")[0]
    gamma = state["network.decoder.final_norm.gamma"]
    assert torch.equal(shipped.network.decoder.final_norm.gamma, gamma.half().float())


def test_what_is_shipped_tells_how_it_was_learned(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert train.main(["mini-bert", "--data", str(data), "--out", str(out)]) == 0
    folder = out / "checkpoint"
    assert (folder / metrics.FILE).read_bytes() == (out / metrics.FILE).read_bytes()
    assert history.names(out) == ("checkpoint",)
    shipped = read_checkpoint(folder)
    assert history.read_size(folder) == history.CheckpointSize(
        sum(parameter.numel() for parameter in shipped.network.parameters()), shipped.config.vocabulary
    )
    read = history.read_replay(folder)
    assert read.streams == ("encoder",)
    assert read.steps[-1] == history.read_metrics(folder)[-1]["step"]
    tensors, _ = read_tensors(folder / replay.FILE)
    for place, maps in read.maps.items():
        for step, weights in zip(read.steps, maps, strict=True):
            assert torch.equal(torch.tensor(weights), tensors[f"{step}/{place.sentence}.{place.stream}.{place.layer}"])


def test_the_replay_holds_attention_that_sums_to_one(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert train.main(["translator", "--data", str(data), "--out", str(out)]) == 0
    tensors, about = read_tensors(out / "checkpoint" / replay.FILE)
    steps = sorted({int(name.split("/")[0]) for name in tensors})
    assert steps[0] == 0
    assert f'"steps": {steps}' in about
    assert {name.split("/")[1] for name in tensors if "norm." not in name} == {
        f"{sentence}.{stream}.0" for sentence in range(3) for stream in ("encoder", "decoder", "cross")
    }
    for name, weights in tensors.items():
        if "/norm." not in name:
            assert_close(weights.float().sum(-1), torch.ones(weights.shape[:2]), relative=3e-3)
        if ".decoder." in name and "/norm." not in name:
            assert not weights.triu(diagonal=1).any()


@pytest.mark.parametrize("implementation", ["own", "torch"])
def test_translating_alone_together_and_with_one_beam_is_the_same(
    implementation: str, data: Path, tmp_path: Path
) -> None:
    task = prepare(RECIPES["translator"], data, tokenizer_file=tmp_path / "tokenizer.json")
    network = task.network(implementation).eval()
    sources = ["I have 7 cats.", "Red", "Alice and I have 12 red cats."]
    settings = {"tokenizer": task.tokenizer, "vocabulary": task.vocabulary, "longest": 8}
    together = translate(network, sources, beams=1, **settings)
    assert together == [translate(network, [source], beams=1, **settings)[0] for source in sources]
    assert len(translate(network, sources, beams=3, **settings)) == 3


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: (folder / corpus.PAIRS["train"]).unlink(), "There is no file"),
        (lambda folder: (folder / corpus.PAIRS["valid"]).write_bytes(b""), "line 1: the file is empty"),
        (lambda folder: (folder / corpus.PAIRS["train"]).write_bytes(b"a\tb\tc\nd\n"), "line 2: 1 columns; expected 3"),
    ],
)
def test_bad_data_is_said_in_one_line(
    spoil: object, says: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(data)
    assert train.main(["translator", "--data", str(data), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "tatoeba-en-zh." in error
    assert "Traceback" not in error


def test_without_data_the_command_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["mini-bert", "--out", str(tmp_path)]) == 2
    assert "name their folder with --data" in capsys.readouterr().err


def test_ctrl_c_saves_and_says_how_to_go_on(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    arguments = ["translator", "--data", str(data), "--out", str(out)]
    evaluate = loop.evaluate

    def interrupt(*positional: object, **named: object) -> tuple[float, float]:
        os.kill(os.getpid(), signal.SIGINT)
        return evaluate(*positional, **named)

    monkeypatch.setattr(loop, "evaluate", interrupt)
    assert train.main(arguments) == 130
    said = capsys.readouterr().out
    assert "Stopped and saved at step" in said
    assert f"python -m models.train translator --data {data} --out {out} --implementation own --resume" in said
    monkeypatch.undo()
    monkeypatch.setitem(RECIPES, "translator", recipes.TRANSLATOR)
    assert train.main(arguments) == 2
    assert "go on with --resume" in capsys.readouterr().err


def test_without_the_judge_the_card_says_so(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finish, "has_judge", lambda: False)
    assert train.main(["translator", "--data", str(data), "--out", str(tmp_path / "out")]) == 0
    card = (tmp_path / "out" / "checkpoint" / "CARD.md").read_text(encoding="utf-8")
    assert "| BLEU | not measured: sacreBLEU is not installed (pip install sacrebleu) |" in card


def without(name: str):
    return lambda tensors, about: ({key: value for key, value in tensors.items() if key != name}, about)


BROKEN = {
    "empty": lambda tensors, about: (tensors, ""),
    "no JSON": lambda tensors, about: (tensors, "{"),
    "a list": lambda tensors, about: (tensors, "[]"),
    "no recipe": lambda tensors, about: (tensors, "{}"),
    "other progress": lambda tensors, about: (tensors, about.replace('"step"', '"stop"')),
    "no random numbers": without("random.cpu"),
    "random numbers of another type": lambda tensors, about: (tensors | {"random.cpu": torch.zeros(3)}, about),
    "nothing of the network": lambda tensors, about: ({"random.cpu": tensors["random.cpu"]}, about),
    "other contents": lambda tensors, about: ({"a": torch.zeros(2)}, about),
    "another shape": lambda tensors, about: (
        {name: value[:1] if name.startswith("network.") else value for name, value in tensors.items()},
        about,
    ),
}


def test_a_state_that_does_not_fit_is_a_sentence(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, begun = tmp_path / "own", ["translator", "--data", str(data)]
    assert train.main([*begun, "--out", str(out)]) == 0
    state = out / "state.safetensors"
    whole, tensors = state.read_bytes(), read_tensors(state)
    for name, broken in BROKEN.items():
        write_tensors(state, broken(*tensors)[0], about=broken(*tensors)[1])
        capsys.readouterr()
        assert train.main([*begun, "--out", str(out), "--resume"]) == 2, name
        said = capsys.readouterr().err
        assert said.startswith(str(state)), name
        assert "Traceback" not in said
        assert "without --resume" in said
        assert len(said.splitlines()) == 1
    state.write_bytes(whole)
    for content in (b"", b"{}", b"[1]", b'{"model": {"type": "no such"}}', b"\xff\xfe"):
        (out / "tokenizer.json").write_bytes(content)
        assert train.main([*begun, "--out", str(out), "--resume"]) == 2
        assert capsys.readouterr().err.startswith(f"{out / 'tokenizer.json'} is damaged (")


def test_what_nobody_foresaw_is_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise IndexError("index 7 is out of range")

    monkeypatch.setattr(train, "prepare", broken)
    assert train.main(["toy", "--out", "nowhere"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("The training failed in a way that Headlight does not know (IndexError: index 7 is out of")
    assert len(said.splitlines()) == 1
