"""Old links: each place that a link of version 0.1.0 could name is there, or the table says where it is now."""

from __future__ import annotations

import pytest

from inspector.sections import moved, registry
from inspector.wording import atlas_card, generate, left_out, training

OLD = {
    "scores": "Every head|One head|Queries and keys|Dot or cosine|Theory|Gradients|Importance|Score functions"
    "|Weightings",
    "block": "One token's way|What each part adds|FFN|Sharing",
    "layernorm": "Gamma and beta|What each step changes|Direction|Outlier dimensions|Another norm"
    "|Pre-norm or post-norm|All numbers",
    "positions": "The curves|By distance|Does it matter|Longer than trained|The kinds",
    "tokens": "One text, many vocabularies|How pieces are learned|Masking|A sentence as a vector"
    "|Understand and continue|Sparse masks|Long texts",
    "batch": "What each token sees|Where a mask leaks|Packed texts|One token changed|Time and memory",
    "time": "Gradient by distance|RNN, LSTM, GRU|Serial or parallel|Teacher forcing|Old keys and queries"
    "|Memory over segments",
    "costs": "By layer|The whole model|Memory and steps|On your card|Heads|Side by side|Time|How it is counted",
}
"""The sections of each page at 0.1.0, as links named them."""
PLACES = [(page, section) for page, sections in OLD.items() for section in sections.split("|")]
CARRIED = {"model": "mini-gpt", "text": "He said.", "layer": "1", "head": "3", "dimensions": "3 68", "norm": "2"}


@pytest.mark.parametrize(("page", "section"), PLACES)
def test_a_place_of_an_old_link_is_there_with_all_that_the_link_says(page: str, section: str) -> None:
    to, now = moved.address(page, {"section": section, **CARRIED})
    assert CARRIED.items() <= now.items()
    if to == "what_if":
        assert now["part"] == left_out.LEAVE_EACH_OUT
        assert "section" not in now
    else:
        assert now["section"] in {one.title for one in registry.sections(to).sections}


@pytest.mark.parametrize(
    ("given", "section"),
    [
        ({"beams": "6"}, generate.BEAMS),
        ({"flops_of": "each step", "gen_layer": "1"}, generate.CACHE),
        ({"cache_counted": "true"}, generate.CACHE),
    ],
)
def test_what_an_old_link_changed_on_generate_stands_in_a_section_now(given: dict[str, str], section: str) -> None:
    assert moved.address("generate", given | CARRIED) == ("generate", given | CARRIED | {"section": section})
    step = {"step": "3"} | given  # the page's first view, with its step
    assert moved.address("generate", step) == ("generate", step)


def test_the_logarithmic_steps_of_a_training_stand_at_its_loss() -> None:
    to, now = moved.address("training", {"run": "mini-bert", "log_steps": "true"})
    assert (to, now) == ("training", {"run": "mini-bert", "log_steps": "true", "section": training.LOSS})


@pytest.mark.parametrize("move", moved.MOVES)
def test_a_move_leads_from_what_is_no_more_to_what_does_not_move_on(move: moved.Move) -> None:
    old = {name: "told" if value == moved.ANY else value for name, value in move.given.items() if value != moved.NONE}
    to, now = moved.address(move.page, old)
    assert (to, dict(now)) != (move.page, old)
    assert move.now.items() <= now.items()
    assert moved.address(to, now) == (to, now)
    if move.given.get("section", moved.NONE) != moved.NONE:
        assert move.given["section"] not in {one.title for one in registry.sections(move.page).sections}


@pytest.mark.parametrize("kind", ["Texts from its weakest tenth to its strongest", "Strongest pairs of tokens"])
def test_the_kinds_of_an_atlas_texts_are_there_under_other_words(kind: str) -> None:
    to, now = moved.address("atlas", {"examples": kind, **CARRIED})
    assert (to, {name: now[name] for name in CARRIED}) == ("atlas", CARRIED)
    assert now["examples"] in atlas_card.KINDS


def test_a_link_that_is_not_old_stays_as_it_is() -> None:
    measured = {"section": "All heads", "measure": "Entropy"}
    for page, given in (("scores", {}), ("scores", measured), ("", {"head": "1"})):
        assert moved.address(page, given) == (page, given)
