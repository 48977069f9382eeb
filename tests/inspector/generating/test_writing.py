"""Each written step, against the whole model run on each beginning of the text, and against the cached steps
as they were watched."""

from __future__ import annotations

import pytest
import torch

import models
from inspector import generating
from inspector.costs import decoding
from inspector.generating import Decoding
from models import LoadedModel
from models.attention import watch
from models.transformer.generation import NextToken, greedy
from tests.closeness import assert_close

TEXT = "My dog sat."
MODELS = ["own-decoder", "own-encoder-decoder", "translator"]


@pytest.fixture(scope="module", params=MODELS)
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return models.load(request.param)


def source_of(loaded: LoadedModel, text: str = TEXT) -> torch.Tensor | None:
    return torch.tensor([loaded.encode(text).ids]) if loaded.shape == "encoder-decoder" else None


@torch.no_grad()
def logits_of(loaded: LoadedModel, ids: list[int]) -> torch.Tensor:
    """The logits of the token after `ids`, by one forward of the whole model."""
    source, target = source_of(loaded), torch.tensor([ids])
    hidden = loaded.network(target) if source is None else loaded.network(source, target)
    return loaded.network.logits(hidden)[0, -1].double()


def test_every_step_is_what_the_whole_model_says(loaded: LoadedModel) -> None:
    made = generating.write(loaded, TEXT, new_tokens=6)
    ids = list(made.whole.ids)
    expected = [loaded.tokenizer.cls_token_id] if loaded.shape == "encoder-decoder" else loaded.encode(TEXT).ids[:-1]
    assert ids[: made.begun] == list(expected)
    for place, step in enumerate(made.steps):
        logits = logits_of(loaded, ids[: made.begun + place])
        p = torch.softmax(logits, dim=-1)
        assert int(p.argmax()) == ids[made.begun + place]
        assert step.chosen.token == loaded.tokenizer.convert_ids_to_tokens(ids[made.begun + place])
        assert (step.rank, step.chosen.drawn) == (1, None)
        order = p.argsort(descending=True)[:5].tolist()
        assert [candidate.token for candidate in step.candidates] == loaded.tokenizer.convert_ids_to_tokens(order)
        got = [candidate.probability for candidate in step.candidates]
        assert_close(got, p[order].numpy(), relative=1e-4)
    assert made.texts[-1] == loaded.tokenizer.decode(ids[made.begun :], skip_special_tokens=True)
    assert len(made.texts) == len(made.steps) == len(made.ids)


@torch.no_grad()
def test_a_row_of_the_finished_map_is_that_step(loaded: LoadedModel) -> None:
    """q, k of each cached step as they went into the attention; the weights by hand: softmax(q k^T / sqrt(E))."""
    made = generating.write(loaded, TEXT, new_tokens=6)
    calls: list[list] = []
    ask = NextToken(loaded.network, source=source_of(loaded))

    def watched(ids: torch.Tensor, rows: torch.Tensor | None) -> torch.Tensor:
        calls.append([])
        with watch(calls[-1].append):
            return ask(ids, rows)

    greedy(watched, torch.tensor([made.whole.ids[: made.begun]]), new_tokens=6, ends=[loaded.tokenizer.sep_token_id])
    assert len(calls) == len(made.steps)
    for step, seen in enumerate(calls):
        layers = {"decoder": 0, "cross": 0}
        for call in seen:
            query, key = call.query[0, :, -1].double(), call.key[0].double()
            scores = torch.einsum("he,hte->ht", query, key) / query.shape[-1] ** 0.5
            whole = made.trace.attention(layer=layers[call.stream], stream=call.stream)
            row = whole[:, made.begun - 1 + step]
            assert_close(row[:, : key.shape[1]], torch.softmax(scores, dim=-1).numpy(), relative=1e-5)
            assert not row[:, key.shape[1] :].any()
            layers[call.stream] += 1


def test_the_cache_grows_by_two_l_k_e_numbers_a_token(loaded: LoadedModel) -> None:
    made, config = generating.write(loaded, TEXT, new_tokens=6), loaded.config
    each = 2 * config.decoder_depth * config.key_heads * config.head_width * 4
    expected = [each * (made.begun + step + (made.source or 0)) for step in range(len(made.steps))]
    assert [step.cache_bytes for step in made.steps] == expected
    assert made.same_without_cache


def test_flops_as_measured_are_the_formulas(loaded: LoadedModel) -> None:
    table = (made := generating.write(loaded, TEXT, new_tokens=6)).table()
    expected = decoding.by_step(loaded.config, steps=len(made.steps), begun=made.begun, source=made.source)
    for column in ("flops_cached", "flops_uncached", "total_cached", "total_uncached", "cache_bytes"):
        assert table[column].tolist() == expected[column].tolist()


def test_it_stops_at_the_end_and_at_the_limit() -> None:
    translator = models.load("translator")
    ended = generating.write(translator, TEXT, new_tokens=30)
    assert ended.ended
    assert ended.whole.tokens[-1] == "[SEP]"
    assert len(ended.steps) < 30
    cut = generating.write(translator, TEXT, new_tokens=2)
    assert not cut.ended
    assert cut.ids == ended.ids[:2]
    assert len(generating.write(translator, TEXT, new_tokens=1).steps) == 1


def test_what_is_drawn_is_said() -> None:
    loaded = models.load("own-decoder")
    how = Decoding(sampled=True, temperature=2.0, top_k=3, seed=4)
    made, same, other = (
        generating.write(loaded, TEXT, how=how, new_tokens=8)
        for how in (how, how, Decoding(True, temperature=2.0, top_k=3, seed=5))
    )
    assert made.ids == same.ids != other.ids
    assert made.same_without_cache
    ids = list(made.whole.ids)
    for place, step in enumerate(made.steps):
        logits = logits_of(loaded, ids[: made.begun + place])
        best = logits.topk(3)
        drawn = torch.softmax(best.values / 2.0, dim=-1)
        assert ids[made.begun + place] in best.indices
        assert step.rank == 1 + best.indices.tolist().index(ids[made.begun + place])
        assert_close([c.drawn for c in step.candidates], [*drawn.tolist(), 0, 0], relative=1e-5)
        assert_close(step.chosen.probability, torch.softmax(logits, dim=-1)[ids[made.begun + place]], relative=1e-4)
    assert any(step.rank > 1 for step in made.steps)


def test_the_table_has_a_row_for_each_step(loaded: LoadedModel) -> None:
    made = generating.write(loaded, TEXT, new_tokens=3)
    table = made.table()
    assert table["step"].tolist() == list(range(1, len(made.steps) + 1))
    assert table["token"].tolist() == list(made.whole.tokens[made.begun :])
    assert table["top1_probability"].tolist() == table["probability"].tolist()
    assert {"top5_token", "top5_probability", "top5_id", "cache_bytes"} <= set(table)


def test_a_source_too_long_is_cut_and_a_prompt_leaves_the_room_it_leaves() -> None:
    translator, decoder = models.load("translator"), models.load("own-decoder")
    made = generating.write(translator, "cat " * 500, new_tokens=2)
    assert made.source == translator.max_tokens
    assert made.trace.encoding.cut is not None
    given = generating.prompt(decoder, "cat " * 600)
    assert (len(given.encoding), given.room) == (511, 1)
    assert generating.prompt(translator, TEXT).room == translator.max_tokens - 1


def test_every_token_is_reported_as_it_comes() -> None:
    seen: list[int] = []
    generating.write(models.load("own-decoder"), TEXT, new_tokens=3, watch=seen.append)
    assert seen == [1, 2, 3, 4, 5, 6]


def test_what_cannot_be_written_is_said(minilm: LoadedModel) -> None:
    with pytest.raises(ValueError, match="minilm is an encoder: it reads and does not write"):
        generating.write(minilm, TEXT)
    decoder = models.load("own-decoder")
    with pytest.raises(ValueError, match="The text is empty"):
        generating.write(decoder, " ")
    for count in (0, 600):
        with pytest.raises(ValueError, match=f"new_tokens is {count}; after this text the model has room for 1 to 507"):
            generating.write(decoder, TEXT, new_tokens=count)
    with pytest.raises(ValueError, match="temperature is 0"):
        generating.write(decoder, TEXT, how=Decoding(True, temperature=0), new_tokens=1)
