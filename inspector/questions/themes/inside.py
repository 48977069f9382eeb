"""The inside of the layers on the reader's text, recorded once for the questions on blocks and on what flows."""

from __future__ import annotations

from functools import partial

from inspector import block
from inspector.block import Stage
from inspector.interventions import leave_one_out
from inspector.interventions.leave_one_out import LeftOutTokens
from inspector.probe import TextLimits, record, record_blocks
from inspector.questions.record.both import UnanswerableError
from inspector.questions.record.subject import Subject
from inspector.trace.blocks import Blocks

MOST_LEFT_OUT = 64  # tokens of a text: leaving one out is a run of the model


def stream_of(subject: Subject) -> str:
    """Return the stream that reads the text: an encoder-decoder's encoder."""
    return subject.trace.streams[0]


def blocks_of(subject: Subject) -> Blocks:
    """Record the inside of every layer, once."""
    return subject.once("blocks", partial(record_blocks, subject.loaded, subject.trace))


def stages_of(subject: Subject) -> list[Stage]:
    """List the sublayers of the stream in the order in which they run, once."""
    return subject.once("stages", lambda: block.stages(subject.trace, blocks_of(subject), stream=stream_of(subject)))


def several_tokens(subject: Subject) -> None:
    """Raise ValueError for a text of one token, in which nothing can be compared."""
    if len(subject.trace.read_by(stream_of(subject)).tokens) < 2:
        raise UnanswerableError(
            "The text has one token, so there is nothing to compare it with; write a longer one.",
            "文本只有一个 token，没有可以比较的对象，请写长一些。",
        )


def left_out(subject: Subject) -> LeftOutTokens:
    """Leave out each token of the text in turn, once for all questions; of a long text, each of its first tokens."""

    def make() -> LeftOutTokens:
        loaded, trace = subject.loaded, subject.trace
        if len(trace.tokens) > MOST_LEFT_OUT:
            trace = record(loaded, subject.text, limits=TextLimits(tokens=min(MOST_LEFT_OUT, loaded.max_tokens)))
        count = len(leave_one_out.candidates(loaded, trace, query=None))
        if count < leave_one_out.LEAST:
            raise UnanswerableError(
                f"Tokens that can be left out: {count}; the question needs {leave_one_out.LEAST}. Write more words.",
                f"可以去掉的 token 有 {count} 个，而这个问题需要 {leave_one_out.LEAST} 个，请多写几个词。",
            )
        return leave_one_out.leave_out(loaded, trace)

    return subject.once("left out", make)
