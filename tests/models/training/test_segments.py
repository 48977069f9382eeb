"""The lab's decoders that read a text in segments, with and without memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from models.training import lab
from models.training.tiny import depth
from models.training.tiny.experiments import Experiment, LabRun, Switches
from models.training.tiny.puzzles import draw
from models.training.tiny.solvers import DecoderSolver, solver
from tests.closeness import assert_close

SEGMENTED = Switches(shape="decoder", positions="xl", width=16, ffn_width=24, heads=2, segment=5, memory=5)
RUN = LabRun(task="copy", length=4, steps=10, learning_rate=0.01, switches=SEGMENTED, seed=0)
TEXTS = draw("copy", length=4, count=3, generator=torch.Generator().manual_seed(0))


def network(run: LabRun = RUN) -> DecoderSolver:
    made = solver(run)
    assert isinstance(made, DecoderSolver)
    return made.eval()


@pytest.mark.parametrize("memory", [0, 2, 5, 20])
@torch.no_grad()
def test_what_is_written_is_what_the_whole_text_read_again_gives(memory: int) -> None:
    writer = network(replace(RUN, switches=replace(SEGMENTED, memory=memory)))
    written = writer.answer(TEXTS)
    again = writer(TEXTS._replace(wanted=written)).argmax(dim=-1)  # teacher-forced on what it wrote
    assert torch.equal(written, again)


@torch.no_grad()
def test_without_memory_nothing_of_the_digits_crosses_the_border() -> None:
    other = TEXTS._replace(read=(TEXTS.read + 1) % 10)
    for memory, same in ((0, True), (5, False)):
        writer = network(replace(RUN, switches=replace(SEGMENTED, memory=memory)))
        assert torch.equal(writer(TEXTS), writer(other)) == same


@torch.no_grad()
def test_the_map_of_a_text_in_segments_is_laid_out_whole() -> None:
    whole = network(replace(RUN, switches=replace(SEGMENTED, segment=None, memory=0)))
    expected = lab.attention(whole, TEXTS)["decoder"]
    for memory in (20, 2):
        run = replace(RUN, switches=replace(SEGMENTED, memory=memory))
        maps = lab.attention(network(run), TEXTS)["decoder"]
        assert [one.shape for one in maps] == [(3, 2, 9, 9)] * 2
        assert_close(maps[0].sum(dim=-1), 1, relative=1e-6)
        if memory == 20:
            assert_close(maps, expected, relative=1e-6)
        else:
            assert (maps[0][:, :, 5:, :3] == 0).all()
            assert (maps[0][:, :, 5:, 3:6] > 0).all()


def test_a_trial_and_its_layers_are_of_the_whole_text() -> None:
    trial = lab.trial(network(), RUN, times=1)
    assert trial.attention["decoder"][1].shape == (2, 9, 9)
    assert len(depth.measure(network(), TEXTS)) == 2


@pytest.mark.parametrize("through", [False, True])
def test_gradients_stop_at_the_border_unless_a_switch_lets_them_through(through: bool) -> None:
    writer = network(replace(RUN, switches=replace(SEGMENTED, memory_gradient=through)))
    embedded: list[torch.Tensor] = []
    stack = writer.stack
    hook = stack.get_submodule("embedding").register_forward_hook(lambda *given: embedded.append(given[2]))
    loss = torch.nn.functional.cross_entropy(writer(TEXTS)[:, -1], TEXTS.wanted[:, -1])  # of the last segment
    hook.remove()
    first, second = torch.autograd.grad(loss, embedded)
    assert (first != 0).any() == through
    assert (second != 0).any()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"shape": None}, "segment is 5 with shape 'encoder': .* choose shape decoder"),
        ({"shape": "encoder-decoder"}, "segment is 5 with shape 'encoder-decoder'"),
        ({"segment": None}, "memory is 5 without segments"),
        ({"segment": 0}, "segment is 0; choose a number from 1 to 65"),
        ({"memory": 66}, "memory is 66; choose a number from 0 to 65"),
    ],
)
def test_what_does_not_fit_is_a_sentence(changed: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Experiment(task="copy", a=replace(SEGMENTED, **changed), b=SEGMENTED)


def test_memory_copies_across_a_border_and_nothing_else_does() -> None:
    experiment = Experiment(
        task="copy", length=4, steps=150, learning_rate=0.01, a=SEGMENTED, b=replace(SEGMENTED, memory=0)
    )
    results = {course.side: course for course in lab.train_both(experiment)}
    right = {side: lab.result(course).trials[0].token_accuracy for side, course in results.items()}
    assert right["A"] > 0.95
    assert right["B"] < 0.15  # ten digits: chance is 0.1
