"""Ways to read a long text: their pieces, what they lose against full attention, and masks imposed on a model."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import inspector
import models
from inspector.long_texts import Full, Longformer, Window, compare, layer_flops, padded, seen, ways_for
from inspector.long_texts.ways import windows
from models.attention import watch
from models.attention.imposing import imposing
from tests.closeness import assert_close

TEXT = "The old man walked slowly to the harbour and looked at the boats. " * 6


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("tokens", "room", "overlap"), [(100, 30, 10), (31, 30, 15), (30, 30, 0), (64, 7, 6), (5, 9, 3)]
)
def test_windows_cover_every_token_once_where_it_stands_best(
    tokens: int, room: int, overlap: int, causal: bool
) -> None:
    pieces = windows(tokens, room=room, overlap=overlap, causal=causal)
    assert sorted(position for piece in pieces for position in piece.keeps) == list(range(tokens))
    assert {len(piece.reads) for piece in pieces} == {min(room, tokens)}
    assert len(pieces) == (1 if tokens <= room else 1 + -(-(tokens - room) // (room - overlap)))

    def margin(position: int, reads: tuple[int, ...]) -> int:
        before, after = position - reads[0], reads[-1] - position
        return before if causal else min(before, after)

    for piece in pieces:
        for position in piece.keeps:
            every = [margin(position, other.reads) for other in pieces if position in other.reads]
            assert margin(position, piece.reads) == max(every)


def test_parts_and_chunks() -> None:
    ways = {way.name: way for way in ways_for(20, room=6, overlap=3, specials=2)}
    assert ways["first"].covered == tuple(range(6))
    assert ways["last"].covered == tuple(range(14, 20))
    assert ways["ends"].covered == (0, 1, 2, 17, 18, 19)
    assert [len(piece.reads) for piece in ways["chunks"].pieces] == [6, 6, 6, 2]
    assert ways["windows"].runs == 6 * len(ways["windows"].pieces)
    with pytest.raises(ValueError, match="windows of 6 tokens with an overlap of 6 do not advance"):
        ways_for(20, room=6, overlap=6, specials=2)


def test_a_pattern_is_imposed_on_every_layer_of_every_kind_of_model() -> None:
    ids = torch.randint(5, 50, (1, 24))
    given = (ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
    with torch.inference_mode():
        for loaded in (models.load("mini-bert"), models.load("mini-gpt"), models.load("own-encoder")):
            plain = loaded.run(*given)
            with imposing(Full().mask):
                assert_close(loaded.run(*given), plain, relative=2e-5)
            calls = []
            with imposing(Window(2).mask), watch(calls.append):
                changed = loaded.run(*given)
            assert len(calls) == loaded.layers
            for call in calls:
                assert call.mask is not None
                shown = call.mask.rows(0, 24).expand(1, 1, 24, 24)[0, 0].numpy()
                window = seen(Window(2), 24)
                np.testing.assert_array_equal(shown, np.tril(window) if loaded.shape == "decoder" else window)
            assert (changed - plain).abs().max() > 1e-3
            # the first token hears of a far one only after some layers
            far = ids.clone()
            far[0, -1] = 60
            with imposing(Window(2).mask):
                moved = loaded.run(far, *given[1:])
            assert (moved[0, 0] - changed[0, 0]).abs().max() == 0
            assert (moved[0, -1] - changed[0, -1]).abs().max() > 0
    with pytest.raises(ValueError, match="run without cache"), imposing(Window(2).mask):
        models.load("mini-gpt").generate("The cat", new_tokens=2)


def test_an_imposed_pattern_is_a_mask_given_to_transformers() -> None:
    loaded = models.load("minilm")
    ids = torch.randint(1000, 20000, (1, 40), generator=torch.Generator().manual_seed(0))
    shown = torch.from_numpy(seen(Longformer(4, 1), 40))[None, None]
    with torch.inference_mode():
        theirs = loaded.network(input_ids=ids, attention_mask=shown).last_hidden_state
        with imposing(Longformer(4, 1).mask):
            ours = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
    assert_close(ours, theirs, relative=1e-5)


def test_chunks_are_texts_read_alone() -> None:
    loaded = models.load("mini-bert")
    trace = inspector.record(loaded, TEXT)
    found = compare(loaded, trace, budget=18)
    chunks, whole = found.ways["chunks"], trace.encoding.ids[1:-1]
    means = []
    for piece in chunks.pieces:
        ids = torch.tensor([[trace.encoding.ids[0], *(whole[at] for at in piece.reads), trace.encoding.ids[-1]]])
        with torch.inference_mode():
            states = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))[0, 1:-1]
        full = trace.hidden[1:-1][list(piece.reads)]
        for at, mine, theirs in zip(piece.reads, states.double().numpy(), full.double().numpy(), strict=True):
            cosine = mine @ theirs / np.linalg.norm(mine) / np.linalg.norm(theirs)
            assert_close(found.cosines["chunks"][at], cosine, relative=2e-5)
        means.append(states.double().mean(dim=0).numpy())
    vectors = np.stack(means)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    weights = np.exp(unit @ unit.T)
    weights /= weights.sum(axis=1, keepdims=True)
    assert_close(found.mixing, weights, relative=1e-6)
    mean, mixed = trace.hidden[1:-1].double().mean(dim=0).numpy(), (weights @ vectors).mean(axis=0)
    row = found.table.set_index("way").loc["chunks"]
    assert_close(row["vector"], mean @ mixed / np.linalg.norm(mean) / np.linalg.norm(mixed), relative=1e-5)


def test_the_weight_that_is_cut_is_that_of_the_maps() -> None:
    loaded = models.load("mini-bert")
    trace = inspector.record(loaded, TEXT)
    found = compare(loaded, trace, budget=18)
    tokens = len(trace.tokens)
    for name in ("longformer", "bigbird"):
        pattern = found.ways[name].pattern
        assert pattern is not None
        hidden = ~seen(pattern, tokens)
        for layer in range(loaded.layers):
            weights = trace.attention(layer=layer).astype(np.float64)
            cut = (weights * hidden)[:, 1:-1].sum(axis=2).mean(axis=1)
            assert_close(found.cut[name][layer], cut, relative=1e-6)
    first = found.ways["first"].covered
    weights = trace.attention(layer=2).astype(np.float64)
    away = [at for at in range(1, tokens - 1) if at - 1 not in first]
    assert_close(
        found.cut["first"][2], weights[:, 1 : len(first) + 1][:, :, away].sum(axis=2).mean(axis=1), relative=1e-6
    )


def test_the_table_of_ways() -> None:
    loaded = models.load("mini-gpt")
    trace = inspector.record(loaded, TEXT)
    found = compare(loaded, trace, budget=20, overlap=5)
    rows, n = found.table.set_index("way"), len(found.tokens)
    full = rows.loc["full"]
    assert full["flops"] == loaded.layers * layer_flops(found.shape, Full(), len(trace.tokens))  # type: ignore[arg-type]
    assert (full["cosine"], full["cut"], full["dropped"]) == (1, 0, 0)
    real = [at for at, special in enumerate(trace.encoding.special) if not special]
    assert loaded.predict is not None
    logits = loaded.predict(trace.hidden[None])[0]
    truths = torch.tensor([trace.encoding.ids[at] for at in real[1:]])
    own = torch.nn.functional.cross_entropy(logits[real[:-1]].double(), truths)
    assert_close(full["loss"], float(own), relative=1e-5)
    first = rows.loc["first"]  # causal: what comes later changes nothing
    assert_close(first["cosine"], 1, relative=1e-5)
    assert first["cut"] == 0
    assert_close(first["loss"], first["loss_full"], relative=1e-5)
    assert first["dropped"] == pytest.approx(1 - first["tokens"] / n)
    assert rows.loc["windows", "tokens"] == rows.loc["chunks", "tokens"] == n
    assert rows.loc["windows", "loss"] > full["loss"] - 0.5
    assert np.isnan(found.cosines["last"][0])


def test_padding_costs_and_changes_nothing() -> None:
    loaded = models.load("mini-bert")
    found = padded(loaded, inspector.record(loaded, TEXT), budget=16, columns=64)
    assert (found.tokens, found.columns) == (16, 64)
    assert found.moved < 1e-4
    assert found.flops > 4 * found.alone
    with pytest.raises(ValueError, match="16 tokens do not fit into 8 columns"):
        padded(loaded, inspector.record(loaded, TEXT), budget=16, columns=8)


def test_what_cannot_be_compared_is_said() -> None:
    loaded = models.load("mini-bert")
    trace = inspector.record(loaded, TEXT)
    with pytest.raises(ValueError, match="2 tokens have no room: the model puts 2 special tokens around a text"):
        compare(loaded, trace, budget=2)
    with pytest.raises(ValueError, match="choose an encoder or a decoder"):
        compare(models.load("translator"), trace, budget=8)
    with pytest.raises(ValueError, match="give both of one model"):
        compare(models.load("mini-gpt"), trace, budget=8)


def test_a_text_that_fills_its_columns_has_no_padding() -> None:
    loaded = models.load("mini-bert")
    trace = inspector.record(loaded, TEXT)
    found = padded(loaded, trace, budget=10, columns=10)
    assert (found.alone, found.moved) == (found.flops, 0)
    with pytest.raises(ValueError, match="10 tokens do not fit into 9 columns"):
        padded(loaded, trace, budget=10, columns=9)
