"""Token ids written down by hand: every digit is a token, and what lies between is cut as GPT-2 cuts it."""

from __future__ import annotations

import pytest

from models import LoadedModel

TEXTS = {
    # transformers' own conversion of such a file joins the second space to the digit
    "a  1": {"a": 81, "ĠĠ": 256, "1": 33},
    "in 2024,": {"in": 254, "Ġ": 216, "2": 34, "0": 32, "2 again": 34, "4": 36, ",": 28},
    "x\n\n  12": {"x": 104, "ĊĊĠĠ": 39892, "1": 33, "2": 34},
    "one\n2\n\n3": {"one": 537, "Ċ": 198, "2": 34, "ĊĊ": 1116, "3": 35},
    "3\t4": {"3": 35, "ĉ": 197, "4": 36},
    "    return 3.14\n": {"ĠĠĠ": 333, "Ġreturn": 1003, "Ġ": 216, "3": 35, ".": 30, "1": 33, "4": 36, "Ċ": 198},
    "range(10):\n    x[3] += 2": {
        **{"range": 6262, "(": 24, "1": 33, "0": 32, "):": 727, "ĊĠĠĠ": 472, "Ġx": 1792, "[": 75, "3": 35, "]": 77},
        **{"Ġ+=": 4519, "Ġ": 216, "2": 34},
    },
    "<|im_start|>user\n1<|im_end|>": {"<|im_start|>": 1, "user": 4093, "Ċ": 198, "1": 33, "<|im_end|>": 2},
}
"""Each text's tokens and their ids."""


@pytest.mark.parametrize("text", TEXTS)
def test_digits_spaces_line_breaks_and_code(text: str, smollm2: LoadedModel) -> None:
    encoding = smollm2.encode(text)
    assert list(encoding.tokens) == [name.removesuffix(" again") for name in TEXTS[text]]
    assert list(encoding.ids) == list(TEXTS[text].values())
    assert smollm2.tokenizer.decode(encoding.ids) == text
    assert not any(encoding.special)  # it begins with no mark, and the marks that a reader types are the reader's


def test_what_was_written_reads_without_its_marks(smollm2: LoadedModel) -> None:
    """The kinds of the tokens are the file's: marks of a dialogue, of files and of a text's end are no text."""
    ids = smollm2.encode("<|im_start|>user\nHi<|im_end|><|endoftext|><file_sep>").ids
    assert smollm2.tokenizer.decode(ids, skip_special_tokens=True) == "user\nHi"
    assert len(smollm2.tokenizer) == 49_152
    assert smollm2.tokenizer.model_max_length == 8192
