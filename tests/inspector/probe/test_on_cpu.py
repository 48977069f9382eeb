"""A recording's tensors are moved to one device. Without an accelerator torch's meta device stands for the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

import models
from inspector.probe.on_cpu import Transfer
from models.attention import AttentionCall, watch
from models.attention.functions import ComposedAttention
from models.attention.masks import AllOf, CausalMask, DenseMask, PaddingMask, SharedMask
from models.attention.relative import T5Bias
from models.attention.scores import GeneralScore
from models.huggingface.eager_attention import EagerAttention, RuleMask


def same_text(texts: Tensor) -> Callable[..., Tensor]:
    """A mask's rule as transformers writes it: a function around a tensor."""

    def rule(batch: int, head: int, query: Tensor, key: Tensor) -> Tensor:
        return texts[batch, query] == texts[batch, key]

    return rule


def both(*rules: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A rule like `same_text`, around a tuple of other rules."""

    def rule(*place: Tensor) -> Tensor:
        return rules[0](*place) & rules[1](*place)

    return rule


@pytest.fixture
def call() -> AttentionCall:
    texts, bias = torch.tensor([[0, 0, 1, 1]]), torch.zeros(1, 2, 4, 4)
    rule = RuleMask(
        {
            "batch_size": 1,
            "kv_length": 4,
            "q_offset": 0,
            "mask_function": both(same_text(texts), lambda b, h, q, k: k <= q),
            "attention_mask": torch.ones(1, 4, dtype=torch.bool),
            "device": torch.device("cpu"),
            "allow_is_causal_skip": False,
        }
    )
    function = EagerAttention("transformers.models.t5.modeling_t5", {"sinks": torch.zeros(2)}, {"position_bias": bias})
    query = torch.zeros(1, 2, 4, 8)
    return AttentionCall(function, query, query, query, SharedMask(rule))


def test_what_is_there_already_stays_the_same_object(call: AttentionCall) -> None:
    kept = Transfer().call(call)
    assert kept.mask is call.mask
    assert kept.function is call.function
    assert kept.query is call.query


def test_every_tensor_of_a_call_is_brought(call: AttentionCall) -> None:
    kept = Transfer("meta").call(call)
    rule, function = kept.mask.mask.arguments, kept.function
    tensors = [kept.query, kept.key, kept.value, rule["attention_mask"]]
    tensors += [function.module["sinks"], function.arguments["position_bias"]]
    (rules,) = [cell.cell_contents for cell in rule["mask_function"].__closure__]
    tensors += [rules[0].__closure__[0].cell_contents]
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert rule["device"].type == "meta"
    assert call.mask.mask.arguments["attention_mask"].device.type == "cpu"
    assert call.mask.rows(2, 3).tolist() == [[[[False, False, True, False]]]]  # of the second text, and not ahead


class Copies(Transfer):
    """Every tensor is brought as a copy, as from another device."""

    def _moved(self, part: Any) -> Any:
        return part.clone() if isinstance(part, Tensor) else super()._moved(part)


def test_a_rule_that_was_brought_says_the_same(call: AttentionCall) -> None:
    kept = Copies().call(call)
    assert kept.mask is not call.mask
    for row in range(4):
        assert torch.equal(kept.mask.rows(row, row + 1), call.mask.rows(row, row + 1))


def test_what_calls_share_stays_shared(call: AttentionCall) -> None:
    transfer = Transfer("meta")
    one, other = transfer.call(call), transfer.call(replace(call, query=call.query.clone()))
    assert one.mask is other.mask
    assert one.function.arguments["position_bias"] is other.function.arguments["position_bias"]


def test_own_functions_and_masks_are_brought() -> None:
    loaded = models.load("own-decoder")
    calls: list[AttentionCall] = []
    with watch(calls.append):
        loaded.run(torch.tensor([[5, 6, 7]]), torch.tensor([[True, True, False]]), torch.zeros(1, 3, dtype=torch.long))
    kept = Copies().call(calls[0])  # a mask of padding looks at its tensor, which one on "meta" does not have
    assert isinstance(kept.mask, AllOf)
    assert [type(mask) for mask in kept.mask.masks] == [PaddingMask, CausalMask]
    assert kept.mask.masks[0].keep is not calls[0].mask.masks[0].keep
    assert torch.equal(kept.mask.rows(0, 3), calls[0].mask.rows(0, 3))
    composed = ComposedAttention(
        GeneralScore(torch.zeros(1, 2, 2)), 1.0, T5Bias(torch.zeros(4, 1), 8, False, 0), None, False, None
    )
    moved = Transfer("meta").call(replace(calls[0], function=composed, mask=DenseMask(torch.zeros(1, 1, 3, 3))))
    assert moved.function.score.weight.device.type == "meta"
    assert moved.function.bias.table.device.type == "meta"
    assert moved.mask.bias.device.type == "meta"
