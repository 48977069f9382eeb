"""Forward and backward of the own encoder-decoder against nn.Transformer, the same size, weights' count and batch.

    python tests/benchmarks/own_transformer.py

Training mode (no fast path on either side), one torch thread, both sides in turn within one run, so that a noisy
machine slows both. Prints the median of the pairs' ratios. Targets: >= 0.95x the tokens/s, <= 1.1x the peak memory.
Memory is what torch allocates above what is held before the step, the largest sum at any moment. With dropout
nn.Transformer does a little more: it drops inside the FFN too, where Vaswani et al. (2017) do not.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from models.transformer import EncoderDecoder
from models.transformer.config import TransformerConfig

VOCABULARY, WIDTH, HEADS, FFN_WIDTH, LAYERS = 2000, 256, 8, 1024, 3
PAIRS = 15


class Reference(nn.Module):
    """nn.Transformer between the same embeddings and the same output matrix."""

    def __init__(self, own: EncoderDecoder) -> None:
        super().__init__()
        self.source, self.target = own.encoder.embedding, own.decoder.embedding
        self.transformer = nn.Transformer(
            WIDTH, HEADS, LAYERS, LAYERS, FFN_WIDTH, dropout=own.config.dropout, batch_first=True, norm_first=True
        )
        self.head = own.decoder.head

    def forward(self, source: Tensor, target: Tensor, keep: Tensor | None) -> Tensor:
        padding = None if keep is None else ~keep
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        hidden = self.transformer(
            self.source(source),
            self.target(target),
            tgt_mask=causal,
            tgt_is_causal=True,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return self.head(hidden)


def step(model: nn.Module, run: Callable[[], Tensor], target: Tensor) -> None:
    model.zero_grad(set_to_none=True)
    nn.functional.cross_entropy(run().flatten(0, 1), target.flatten()).backward()


def seconds(call: Callable[[], None]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def peak_bytes(call: Callable[[], None]) -> int:
    """The largest sum of allocations during the call, by torch's profiler."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    held = peak = 0
    events = sorted(
        (event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"),
        key=lambda event: event.start_ns(),
    )
    for event in events:
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def measure(batch: int, tokens: int, *, padded: bool, dropout: float) -> tuple[float, float]:
    torch.manual_seed(0)
    config = TransformerConfig(
        vocabulary=VOCABULARY,
        layers=LAYERS,
        width=WIDTH,
        heads=HEADS,
        ffn_width=FFN_WIDTH,
        max_positions=tokens,
        shape="encoder-decoder",
        norm_placement="pre",
        final_norm=True,
        dropout=dropout,
        attention_dropout=dropout,
    )
    own = EncoderDecoder(config).train()
    reference = Reference(EncoderDecoder(config)).train()
    counts = [sum(p.numel() for p in model.parameters()) for model in (own, reference)]
    assert counts[0] == counts[1], counts
    source, target = torch.randint(VOCABULARY, (2, batch, tokens))
    keep = torch.arange(tokens) < torch.linspace(tokens // 2, tokens, batch)[:, None] if padded else None

    def ours() -> None:
        step(own, lambda: own.logits(own(source, target, source_keep=keep)), target)

    def theirs() -> None:
        step(reference, lambda: reference(source, target, keep), target)

    for _ in range(2):
        ours(), theirs()
    times = [(seconds(ours), seconds(theirs)) for _ in range(PAIRS)]
    speed = statistics.median(b / a for a, b in times)
    own.zero_grad(set_to_none=True), reference.zero_grad(set_to_none=True)
    memory = peak_bytes(ours) / peak_bytes(theirs)
    rate = [2 * batch * tokens / statistics.median(side) for side in zip(*times, strict=True)]
    met = "met" if speed >= 0.95 and memory <= 1.1 else "MISSED"
    print(
        f"batch {batch:2} x {tokens:3} tokens, {'padded  ' if padded else 'unpadded'}, dropout {dropout}: own "
        f"{rate[0]:7.0f} tokens/s, nn.Transformer {rate[1]:7.0f}; {speed:.3f}x the speed, {memory:.3f}x the peak "
        f"memory: {met}",
        flush=True,
    )
    return speed, memory


def main() -> None:
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="enable_nested_tensor is True")  # torch, of its own pre-norm encoder
    for batch, tokens in ((16, 32), (8, 128), (2, 384)):
        measure(batch, tokens, padded=False, dropout=0.0)
    measure(8, 128, padded=True, dropout=0.0)
    measure(8, 128, padded=True, dropout=0.1)


if __name__ == "__main__":
    main()
