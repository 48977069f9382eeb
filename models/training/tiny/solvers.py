"""The lab's networks: an encoder that names a whole answer at once, or a decoder that names the next symbol, of a
Transformer or of an RNN."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TypeAlias

import torch
from torch import Tensor, nn

from models.attention import Stream
from models.recurrent.encoder_decoder import RecurrentEncoderDecoder
from models.training.tiny.experiments import ALPHABET, READ, SYMBOLS, LabRun, Task
from models.training.tiny.puzzles import PuzzleTexts
from models.training.tiny.words import SOURCE, WORDS
from models.transformer import Decoder, Encoder, EncoderDecoder, shift_right
from models.transformer.blocks import EncoderBlock
from models.transformer.generation import Ask, NextInSegments, NextToken, greedy
from models.transformer.segment_memory import read_segments

_drawing = Lock()  # torch has one generator for all threads: two visitors must not draw from it at once


class EncoderSolver(nn.Module):
    """An encoder with a linear layer that scores the digits, or kinds, for each place of the answer."""

    def __init__(self, run: LabRun) -> None:
        super().__init__()
        self.start = READ[run.task]
        self.encoder = Encoder(run.config)
        self.head = nn.Linear(run.config.width, SYMBOLS[run.task])
        if run.switches.embeddings != "random":
            table = self.encoder.embedding.token.weight
            with torch.no_grad():
                table[: len(WORDS)] = trained_embeddings()
            table.requires_grad_(run.switches.embeddings == "taken")

    def forward(self, texts: PuzzleTexts) -> Tensor:
        """Score all ten digits or kinds for each place of the answer -> [B, n, 10]."""
        scores: Tensor = self.head(self.encoder(marked(texts.read, start=self.start))[:, 1:-1])
        return scores

    def answer(self, texts: PuzzleTexts) -> Tensor:
        """Name the likeliest digit at each place of the answer -> [B, n]."""
        return self.forward(texts).argmax(dim=-1)

    def tokens(self, texts: PuzzleTexts) -> dict[Stream, Tensor]:
        """Return what each stream reads of the texts: stream -> ids [B, T]."""
        return {"encoder": marked(texts.read, start=self.start)}


class DecoderSolver(nn.Module):
    """A decoder, alone or with an encoder, that scores the next symbol: of the answer, or of a text that repeats."""

    def __init__(self, run: LabRun) -> None:
        super().__init__()
        self.stack: Decoder | EncoderDecoder
        self.stack = EncoderDecoder(run.config) if run.config.shape == "encoder-decoder" else Decoder(run.config)
        self.symbols = SYMBOLS[run.task]
        self.continues = run.task == "repeats"
        self.segment, self.memory = run.switches.segment, run.switches.memory
        self.gradients = run.switches.memory_gradient

    def forward(self, texts: PuzzleTexts) -> Tensor:
        """Score all symbols for each place of the answer, on the right answer up to that place -> [B, m, symbols]."""
        read = self.tokens(texts)
        if isinstance(self.stack, EncoderDecoder):
            hidden = self.stack(read["encoder"], read["decoder"])
        else:
            hidden = self._read(self.stack, read["decoder"])
        return self.stack.logits(hidden[:, -texts.wanted.shape[1] :])[..., : self.symbols]

    def answer(self, texts: PuzzleTexts) -> Tensor:
        """Write the likeliest symbol each time -> [B, m]; in a text that repeats each one after the true text."""
        if self.continues:
            return self.forward(texts).argmax(dim=-1)
        prompt = marked(texts.read, start=self.symbols)
        reads_source = isinstance(self.stack, EncoderDecoder)
        next_token: Ask = NextToken(self.stack, source=prompt if reads_source else None)
        if isinstance(self.stack, Decoder) and self.segment is not None:
            next_token = NextInSegments(self.stack, segment=self.segment, memory=self.memory)
        if reads_source:
            prompt = prompt[:, :1]

        def ask(ids: Tensor, rows: Tensor | None = None) -> Tensor:
            return next_token(ids, rows)[:, : self.symbols]

        return greedy(ask, prompt, new_tokens=texts.wanted.shape[1])[:, prompt.shape[1] :]

    def _read(self, stack: Decoder, ids: Tensor) -> Tensor:
        """Read the text whole, or segment by segment -> hidden states [B, T, D]."""
        if self.segment is None:
            hidden: Tensor = stack(ids)
            return hidden
        return read_segments(stack, ids, segment=self.segment, memory=self.memory, gradients=self.gradients)

    def tokens(self, texts: PuzzleTexts) -> dict[Stream, Tensor]:
        """Return what each stream reads of the texts: stream -> ids [B, T].

        A decoder alone reads the digits between their marks, then the answer but for its last digit.
        """
        before = shift_right(texts.wanted, start=self.symbols)
        if isinstance(self.stack, EncoderDecoder):
            return {"encoder": marked(texts.read, start=self.symbols), "decoder": before}
        if not self.continues:
            before = torch.cat([marked(texts.read, start=self.symbols), before[:, 1:]], dim=1)
        return {"decoder": before}


class RecurrentSolver(nn.Module):
    """An RNN that reads the text and writes the answer, with attention or without."""

    def __init__(self, run: LabRun) -> None:
        super().__init__()
        self.stack = RecurrentEncoderDecoder(run.switches.recurrent(task=run.task))
        self.symbols = SYMBOLS[run.task]

    def forward(self, texts: PuzzleTexts) -> Tensor:
        """Score all digits for each place of the answer, on the right answer up to that place -> [B, n, 10]."""
        read = self.tokens(texts)
        logits: Tensor = self.stack(read["encoder"], read["decoder"])[0]
        return logits[..., : self.symbols]

    def answer(self, texts: PuzzleTexts) -> Tensor:
        """Write the likeliest digit each time -> [B, n]."""
        source = self.tokens(texts)["encoder"]
        return self.stack.write(source, start=self.symbols, steps=texts.wanted.shape[1], symbols=self.symbols)

    def tokens(self, texts: PuzzleTexts) -> dict[Stream, Tensor]:
        """Return what encoder and decoder read of the texts: stream -> ids [B, T]."""
        return {
            "encoder": marked(texts.read, start=self.symbols),
            "decoder": shift_right(texts.wanted, start=self.symbols),
        }

    def alignment(self, texts: PuzzleTexts) -> Tensor | None:
        """Return the weights [B, n, T] of each step on the tokens of the text; None without attention."""
        read = self.tokens(texts)
        weights: Tensor | None = self.stack(read["encoder"], read["decoder"])[1]
        return weights


Solver: TypeAlias = EncoderSolver | DecoderSolver | RecurrentSolver


def solver(run: LabRun) -> Solver:
    """Build a network with random weights, the same for the same seed; torch's global generator is left as it was.

    Raises ValueError where the switches do not fit each other.
    """
    with seeded(run.seed):
        if run.switches.is_recurrent:
            return RecurrentSolver(run)
        return EncoderSolver(run) if run.config.shape == "encoder" else DecoderSolver(run)


def layers(network: Solver) -> list[tuple[Stream, EncoderBlock]]:
    """List the network's layers, the encoder's first; an RNN has no blocks like a Transformer's."""
    if isinstance(network, RecurrentSolver):
        return []
    stacks: list[tuple[Stream, Encoder | Decoder]]
    if isinstance(network, EncoderSolver):
        stacks = [("encoder", network.encoder)]
    elif isinstance(network.stack, Decoder):
        stacks = [("decoder", network.stack)]
    else:
        stacks = [("encoder", network.stack.encoder), ("decoder", network.stack.decoder)]
    return [(stream, layer) for stream, stack in stacks for layer in stack.layers if isinstance(layer, EncoderBlock)]


def trained_embeddings() -> Tensor:
    """Read mini-bert's embeddings of the words of the task kinds, scaled to the size of random ones -> [words, 192].

    Random embeddings are drawn with variance 1; mini-bert's are smaller, for its layers begin with a norm.
    """
    from models.checkpoints import FOLDER
    from models.checkpoints.store import read_checkpoint

    source = read_checkpoint(FOLDER / SOURCE)
    rows = source.network.get_parameter("encoder.embedding.token.weight")
    taken = rows[[source.tokenizer.encode(word, add_special_tokens=False)[0] for word in WORDS]]
    return taken / taken.square().mean().sqrt()


def marked(read: Tensor, *, start: int) -> Tensor:
    """Put the two marks, tokens `start` and the next, around texts: [B, n] -> [B, n + 2].

    By them a model that counts distances finds the borders.
    """
    return nn.functional.pad(nn.functional.pad(read, (1, 0), value=start), (0, 1), value=start + 1)


def labels(ids: list[int], *, task: Task) -> tuple[str, ...]:
    """Write each token: a word, or one character for a symbol; ⊢ before and ⊣ after a text."""
    names = WORDS if task == "kinds" else ALPHABET[: READ[task]]
    return tuple((*names, "⊢", "⊣")[id] for id in ids)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw torch's random numbers from a seed, one thread at a time; afterwards its generator is as it was."""
    with _drawing, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
