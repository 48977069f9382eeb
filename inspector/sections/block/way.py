"""One token's way through one layer, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector import block
from inspector.plots import block as draw
from inspector.sections.block import inside
from inspector.sections.picks import Listed, Step, Token
from inspector.sections.section import Block, Figure, Mark, Note, Paragraph, Section, Sentence, Table
from inspector.text import named
from inspector.wording import block as words

if TYPE_CHECKING:
    from inspector.block import LayerStep, Walk
    from inspector.sections.subject import Subject

ENDS = ("out", "down", "norm")
ORDERS = {(True, False): "pre", (False, True): "post", (True, True): "both", (False, False): "none"}


def answer(subject: Subject, *, layer: int, token: int) -> Iterator[Block]:
    """Yield the way of a token, with its steps to be played."""
    number = _layers(subject)[layer]
    blocks = inside.blocks(subject)
    walk = subject.once(
        ("walk", number, token),
        lambda: block.walk(
            subject.trace, blocks, subject.model.network, stream=subject.stream, layer=number, position=token
        ),
    )
    adds = [number for number, step in enumerate(walk.steps, start=1) if _adds(walk, step)]
    most = max(adds, key=lambda number: walk.steps[number - 1].norm, default=1)
    about = tuple(Mark("block-way", {"step": number}) for number in (1, most, len(walk.steps)))
    yield Sentence(passed(walk, subject.tokens), ("residual stream", "FFN"), about)
    code = (
        f"{inside.code(subject)}walk = inspector.block.walk(\n    trace, blocks, loaded.network, "
        f"stream={subject.stream!r}, layer={number}, position={token}\n)\ntable = inspector.block.steps(walk)"
    )
    names = [words.STEPS[step.kind] for step in walk.steps]
    player = Step("block_step", words.STEP, lambda subject: names, default=lambda subject: 0)
    yield replace(WALK, answer=partial(_walked, walk=walk, code=code), picks=(player,))
    yield Note(words.about_lengths(off=walk.off, unseen=walk.unseen))
    yield Table("block-walk", block.steps(walk))


def _walked(subject: Subject, *, block_step: int, walk: Walk, code: str) -> Iterator[Block]:
    step = walk.steps[block_step]
    yield Figure(
        "block-way",
        "",
        partial(draw.way, walk, step=block_step, upright=subject.narrow),
        words.way_alt(words.STEPS[step.kind], step=block_step + 1, steps=len(walk.steps)),
        code,
        block.steps(walk),
        name=f"block-layer{walk.layer}-token{walk.position}",
    )
    yield Paragraph(words.step(step, activation=walk.activation, cosines=walk.cosines))


def passed(walk: Walk, tokens: Sequence[str]) -> str:
    """Say what a layer does to one of the text's tokens: what its parts add, and where its norms stand."""
    before = any(_is_pre(walk, number) for number in range(len(walk.steps)))
    after = any(step.kind == "norm" and not step.part for step in walk.steps)
    return words.passed(
        token=named(tokens, walk.position),
        layer=walk.layer,
        enters=walk.steps[0].norm,
        leaves=walk.steps[-1].norm,
        added={step.part: step.norm for step in walk.steps if _adds(walk, step)},
        order=ORDERS[before, after],
        beside=any(step.beside for step in walk.steps),
    )


def _layers(subject: Subject) -> list[int]:
    return [layer.layer for layer in inside.blocks(subject).of(subject.stream)]


def _is_pre(walk: Walk, number: int) -> bool:
    """Return True if the step is a norm with which a sublayer begins."""
    step = walk.steps[number]
    if step.kind != "norm" or not step.part:
        return False
    return all(earlier.part != step.part for earlier in walk.steps[:number])


def _adds(walk: Walk, step: LayerStep) -> bool:
    """Return True if the step is the last of its sublayer: what is added to the stream."""
    last = bool(step.part) and [other for other in walk.steps if other.part == step.part][-1] is step
    return step.kind in ENDS and last


WALK = Section("walk", "", _walked, (Step("block_step", words.STEP, lambda subject: ()),))
SECTION = Section(
    "way",
    words.WAY,
    answer,
    (
        Listed("layer", words.LAYER, lambda subject: [words.layer(layer) for layer in _layers(subject)], width=130),
        Token("token", words.TOKEN, lambda subject: subject.tokens, default=1),
    ),
    needs_model=True,
    parts=(WALK,),
    behind=words.CHOOSE,
)
