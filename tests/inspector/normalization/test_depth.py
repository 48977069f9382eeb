"""Untrained stacks of 24 layers: what is known of norm placement and residual, and Jacobians of known shape."""

from __future__ import annotations

import pytest

from inspector import normalization


@pytest.fixture(scope="module")
def ends() -> dict[str, dict[str, float]]:
    table = normalization.through_depth().set_index(["stack", "layer"])
    return {
        stack.name: {
            "gradient": float(table.gradient[stack.name, 0] / table.gradient[stack.name, 23]),
            "activation": float(table.activation[stack.name, 23]),
            "cosine": float(table.cosine[stack.name, 23]),
        }
        for stack in normalization.STACKS
    }


def test_gradients_by_depth(ends: dict[str, dict[str, float]]) -> None:
    assert 0.1 < ends["pre-norm"]["gradient"] < 10
    assert ends["post-norm"]["gradient"] < 0.5  # largest at the top (Xiong et al. 2020)
    assert ends["no norm"]["gradient"] > 1e6  # explodes
    assert ends["no norm, no residual"]["gradient"] < 1e-4  # vanishes
    assert ends["no norm"]["activation"] > 1e3
    assert ends["post-norm"]["activation"] == pytest.approx(1, abs=1e-3)
    assert ends["post-norm, no residual"]["cosine"] > 0.999  # tokens collapse (Dong et al. 2021)
    assert ends["pre-norm"]["cosine"] < ends["post-norm"]["cosine"]


def test_which_sublayer_lets_a_token_see_others() -> None:
    table = normalization.jacobians().set_index("kind")
    assert not table.loc[["FFN", "LayerNorm", "RMSNorm"], ["others", "texts"]].any().any()
    assert table.others["attention"] > 0
    assert table.texts["attention"] == 0
    assert table.others["BatchNorm"] > 0
    assert table.texts["BatchNorm"] > 0
    assert (table.own > 0).all()
