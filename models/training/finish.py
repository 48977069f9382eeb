"""The end of a training: scores, replay, checkpoint and card."""

from __future__ import annotations

import copy
import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from math import exp
from pathlib import Path

import torch
from torch import nn

from models.checkpoints import CARD
from models.checkpoints.store import write_checkpoint
from models.files import write_bytes, write_text
from models.training import card, corpus, measures, metrics, replay
from models.training.evaluation import bleu, has_judge, translate
from models.training.loop import TrainingOutcome, evaluate
from models.training.neighbours import NeighbourCounts
from models.training.repeats import induction_scores
from models.training.tasks import Implementation, Task, held_out_chinese
from models.transformer import Decoder

CHECKPOINT = "checkpoint"
TRAINED = "trained"  # the row of scores.csv that says what was trained, and for how long
SCORES = "scores.csv"  # read again for the card of another training, which shows them beside its own
BEAMS = 4
CPU = torch.device("cpu")


def finish(
    task: Task,
    trained: TrainingOutcome,
    out: Path,
    *,
    data: Path | None,
    implementation: Implementation,
    beside: Sequence[Path] = (),
) -> str:
    """Measure the network, write out/checkpoint/ (for a yardstick CARD.md alone), and return one line that says so.

    beside: the `out` of other finished trainings (a yardstick, or this model trained shorter), whose scores the card
    shows beside the model's.

    Raises ValueError where one of these folders holds no scores.
    """
    others = [read_scores(folder) for folder in beside]
    network = trained.network.to(CPU).eval()
    folder = out / CHECKPOINT
    halved = _halved(network)
    measured = {
        TRAINED: f"{card.maker(task, implementation)}, {trained.steps:,} steps",
        "parameters": f"{sum(parameter.numel() for parameter in network.parameters()):,}",
        "training time": f"{trained.progress.seconds:,.0f} s",
        **_losses(task, network, "single"),
        **_losses(task, halved, "half"),
        **_translations(task, halved, data),
        **_chinese_guesses(task, halved, data),
        **_english(task, halved, data),
    }
    write_scores(out, measured)
    text = card.write(task, trained, out, data=data, implementation=implementation, scores=measured, beside=others)
    if task.recipe.objective == "write" and isinstance(halved, Decoder):
        text += _written(task, halved)
    if task.recipe.name == "mini-bert-zh" and data is not None:
        text += _game(task, halved, corpus.chinese_sentences(data)[1])
    write_text(folder / CARD, text)
    if implementation == "own":
        write_checkpoint(folder, network, task.tokenizer)
        write_bytes(folder / metrics.FILE, (out / metrics.FILE).read_bytes())
        replay.pack(out, task, folder / replay.FILE)
    results = "; ".join(f"{what} {result}" for what, result in measured.items() if what != TRAINED)
    return f"Done: {results}. See {folder / CARD}"


def _losses(task: Task, network: nn.Module, precision: str) -> dict[str, str]:
    """Measure perplexity and accuracy on the valid split; `precision` is the weights', the arithmetic is single."""
    value, accuracy = evaluate(network, task, device=CPU)
    where = f"valid, weights in {precision} precision"
    share = "masked top-1 accuracy" if task.recipe.objective == "mask" else "next-token accuracy"
    return {
        f"perplexity ({where})": f"{exp(value):.3f} (loss {value:.5f} nats a token)",
        f"{share} ({where})": f"{100 * accuracy:.2f} %",
    }


def _halved(network: nn.Module) -> nn.Module:
    rounded = copy.deepcopy(network)
    with torch.no_grad():
        for parameter in rounded.parameters():
            parameter.copy_(parameter.half().float())
    return rounded


def _translations(task: Task, network: nn.Module, data: Path | None) -> dict[str, str]:
    """Measure BLEU on valid and test, with greedy decoding and with beam search."""
    if task.recipe.name != "translator" or data is None:
        return {}
    if not has_judge():
        return {"BLEU": "not measured: sacreBLEU is not installed (pip install sacrebleu)"}
    results = {}
    for split in ("valid", "test"):
        pairs = corpus.read_pairs(data / corpus.PAIRS[split])
        for beams in (1, BEAMS):
            written = translate(
                network,
                [source for source, _ in pairs],
                tokenizer=task.tokenizer,
                vocabulary=task.vocabulary,
                beams=beams,
                longest=task.recipe.max_positions - 1,
            )
            how = "greedy" if beams == 1 else f"beam {beams}, length penalty 0.6"
            score = bleu(written, [target for _, target in pairs])
            results[f"sacreBLEU, tokenize zh, {split} ({how}; weights in half precision)"] = f"{score:.2f}"
    return results


def _chinese_guesses(task: Task, network: nn.Module, data: Path | None) -> dict[str, str]:
    """Measure the guesses of hidden tokens in both kinds of held-out Chinese, beside a count of both neighbours."""
    if task.recipe.name != "mini-bert-zh" or data is None:
        return {}
    vocabulary, chinese = task.vocabulary, measures.chinese_tokens(task.tokenizer)
    guess = measures.first_guess(network, padding=vocabulary.padding)
    counts = NeighbourCounts(
        (example.source for example in task.train), vocabulary=vocabulary.size, start=vocabulary.start
    )
    results = {}
    for what, texts in held_out_chinese(task, data).items():
        for who, guesses in (
            ("", measures.guess_hidden(guess, texts, vocabulary=vocabulary, chinese=chinese)),
            (
                "; a count of both neighbours instead, which reads the same text",
                measures.guess_hidden(counts, texts, vocabulary=vocabulary, chinese=chinese),
            ),
            (
                "; a count of both neighbours instead, which are never hidden from it",
                measures.guess_hidden(counts, texts, vocabulary=vocabulary, chinese=chinese, true_neighbours=True),
            ),
        ):
            results[f"hidden tokens guessed, {what}{who}"] = (
                f"{100 * guesses.share:.2f} % of {guesses.tokens:,}; of Chinese characters alone "
                f"{100 * guesses.share_of_characters:.2f} % of {guesses.characters:,}"
            )
    return results


def _english(task: Task, network: nn.Module, data: Path | None) -> dict[str, str]:
    """Measure the bits a byte on held-out text and, of an own decoder, the best heads on random repeats."""
    if task.recipe.objective != "write" or data is None:
        return {}
    texts = corpus.read_paragraphs(data / corpus.BOOKS["valid"])
    bits = measures.bits_per_byte(network, task.valid, vocabulary=task.vocabulary, texts=texts)
    results = {f"bits a byte ({corpus.BOOKS['valid']}, in rows of {task.recipe.max_positions} tokens)": f"{bits:.3f}"}
    if isinstance(network, Decoder):
        for block in (16, 32, 64):
            scores = induction_scores(
                network, vocabulary=task.vocabulary.size, start=task.vocabulary.start, block=block, texts=32
            )
            layer, head = divmod(int(scores.argmax()), scores.shape[1])
            results[f"highest induction score (blocks of {block} random tokens, each of the vocabulary)"] = (
                f"{float(scores.max()):.3f} (layer {layer}, head {head}; {int((scores > 0.5).sum())} heads above 0.5)"
            )
    return results


def _written(task: Task, network: Decoder) -> str:
    """Show what the model writes on ten prompts, as it came."""
    tokenizer, vocabulary = task.tokenizer, task.vocabulary
    lines = [
        f"- {prompt}**{measures.write_on(network, prompt, tokenizer=tokenizer, vocabulary=vocabulary, seed=0)}**"
        for prompt in measures.PROMPTS
    ]
    return "\n".join(
        [
            "\n## What it writes\n",
            f"Ten prompts, chosen before anything was written; after each at most {measures.NEW_TOKENS} tokens, drawn "
            f"once (temperature {measures.TEMPERATURE}, seed 0), as they came:\n",
            *lines,
            "",
        ]
    )


def _game(task: Task, network: nn.Module, sentences: Sequence[str]) -> str:
    """Show how many tokens of ten sentences the model guesses, each hidden by itself."""
    rows, totals = [], [0, 0, 0]
    for sentence in measures.game_sentences(sentences):
        ranks = measures.hidden_ranks(network, sentence, tokenizer=task.tokenizer, vocabulary=task.vocabulary)
        counts = [sum(rank < 1 for rank in ranks), sum(rank < 5 for rank in ranks), len(ranks)]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        rows.append((sentence, f"{counts[0]} of {counts[2]}", f"{counts[1]} of {counts[2]}"))
    rows.append(("all", f"{totals[0]} of {totals[2]}", f"{totals[1]} of {totals[2]}"))
    return "\n".join(
        [
            "\n## What it guesses\n",
            f"The first {measures.GAME_SENTENCES} sentences of {measures.LEAST_CHARACTERS} characters or more of the "
            f"Chinese side of {corpus.PAIRS['valid']}, each token hidden alone:\n",
            card.table(("sentence", "first try", "within five"), rows),
            "",
        ]
    )


def write_scores(out: Path, scores: Mapping[str, str]) -> None:
    """Write a row for each measured quantity: its name and the result."""
    with StringIO() as file:
        csv.writer(file, lineterminator="\n").writerows([("measured", "result"), *scores.items()])
        write_text(out / SCORES, file.getvalue())


def read_scores(out: Path) -> dict[str, str]:
    """Read the scores that `write_scores` wrote; raises ValueError where the file is missing."""
    path = out / SCORES
    if not path.is_file():
        raise ValueError(f"There is no file {path}: the training in {out} is not finished. Finish it with --resume.")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["measured"]: row["result"] for row in csv.DictReader(file)}
