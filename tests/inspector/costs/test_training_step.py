"""A training step against torch's count: the backward is twice the forward."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel

from inspector.costs import training_step


def test_the_backward_costs_twice_the_forward_and_adam_keeps_two_numbers() -> None:
    config = BertConfig(
        vocab_size=50, hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=20,
    )  # fmt: skip
    network = BertModel._from_config(config, attn_implementation="eager")
    ids = torch.ones(2, 7, dtype=torch.long)
    with FlopCounterMode(display=False) as forward, torch.no_grad():
        network(ids)
    optimizer = torch.optim.Adam(network.parameters())
    with FlopCounterMode(display=False) as step:
        network(ids).pooler_output.sum().backward()
    optimizer.step()
    parameters = sum(tensor.numel() for tensor in network.parameters())
    found = training_step(forward.get_total_flops(), parameters)
    assert found.flops == step.get_total_flops() == 3 * forward.get_total_flops()
    kept = sum(value.nbytes for one in optimizer.state.values() for value in one.values() if value.dim())
    assert found.optimizer == kept
    assert found.weights + found.gradients == 2 * sum(tensor.nbytes for tensor in network.parameters())
    assert found.bytes == 16 * parameters
    with pytest.raises(ValueError, match="none is a count"):
        training_step(-1, 2)
