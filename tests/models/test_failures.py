"""Every failure becomes one sentence, panics of Rust and want of memory too. What ends a run does not."""

from __future__ import annotations

import logging

import pytest
import torch
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from models import failures

WHAT, INSTEAD = "Reading the text", "Try another text."


def told(error: BaseException) -> str:
    with pytest.raises(ValueError, match=r"\w") as caught, failures.told(WHAT, instead=INSTEAD):
        raise error
    return str(caught.value)


def test_a_sentence_stays_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    assert told(ValueError("The text is empty.")) == "The text is empty."
    assert not caplog.records


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (AttributeError("'str' object has no attribute 'x'"), "AttributeError: 'str' object has no attribute 'x'"),
        (KeyError(None), "KeyError: None"),
        (RecursionError(), "RecursionError"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "UnicodeDecodeError: 'utf-8' codec can't"),
        (RuntimeError("two\nlines \u202eand\x00 more"), "RuntimeError: two lines  and  more"),
        (OSError(36, "File name too long", "x" * 5_000), "OSError: [Errno 36] File name too long: 'xxx"),
    ],
)
def test_anything_else_is_told_in_a_line_and_logged_whole(
    error: Exception, named: str, caplog: pytest.LogCaptureFixture
) -> None:
    said = told(error)
    assert said.startswith(f"{WHAT} failed in a way that Headlight does not know ({named}")
    assert said.endswith(f"). {INSTEAD}")
    assert "\n" not in said
    assert len(said) < 500
    assert caplog.records[0].levelno == logging.ERROR
    assert caplog.records[0].exc_info is not None
    assert caplog.records[0].exc_info[1] is error


def test_want_of_memory_is_said() -> None:
    assert told(MemoryError()) == f"{WHAT} takes more memory than there is (MemoryError). {INSTEAD}"
    with pytest.raises(RuntimeError) as torchs:
        torch.empty(2**62, dtype=torch.uint8)
    assert told(torchs.value).startswith(f"{WHAT} takes more memory than there is (RuntimeError: ")


def test_a_panic_of_rust_is_told() -> None:
    """A regular expression that tries too much panics in Rust; that is no Exception of Python's."""
    tokenizer = Tokenizer(WordLevel({"a": 0}, unk_token="a"))
    tokenizer.pre_tokenizer = Split(Regex("(a+)+$"), "isolated")
    with pytest.raises(ValueError, match="PanicException") as caught, failures.told(WHAT, instead=INSTEAD):
        tokenizer.encode("a" * 40 + "!")
    assert not isinstance(caught.value.__cause__, Exception)


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_the_end_of_a_run_passes(end: type[BaseException], caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(end), failures.told(WHAT, instead=INSTEAD):
        raise end
    assert not caplog.records
