"""SmolLM2's tokenizer, from the vocabulary and the merges in its file: byte pairs, with every digit a token.

The file names its pre-tokenizer, `smollm`: each digit stands alone, and what lies between is cut as GPT-2 cuts it
(Radford et al. 2019). transformers' own conversion of such a file leaves the digits out: in "a  1" it joins the second
space to the digit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast

_CONTROL, _UNUSED = 3, 5  # kinds of tokens that no text is made of: the marks of a dialogue, of files, of a text's end
_ROLES = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}  # transformers' names, and the file's


def read_tokenizer(fields: Mapping[str, Any]) -> PreTrainedTokenizerFast:
    """Build the tokenizer; raises ValueError for a file that names another way to cut a text."""
    way = (fields["tokenizer.ggml.model"], fields["tokenizer.ggml.pre"])
    if way != ("gpt2", "smollm") or fields["tokenizer.ggml.add_bos_token"] or fields["tokenizer.ggml.add_space_prefix"]:
        raise ValueError(f"its tokenizer is {'/'.join(way)[:60]!a}, which is not read; only gpt2/smollm is")
    names = fields["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]]
    built = Tokenizer(BPE({name: id for id, name in enumerate(names)}, merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    built.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    built.decoder = decoders.ByteLevel()
    kinds = zip(names, fields["tokenizer.ggml.token_type"].tolist(), strict=True)
    marks = [name for name, kind in kinds if kind in (_CONTROL, _UNUSED)]
    built.add_special_tokens([AddedToken(name, normalized=False) for name in marks])
    return PreTrainedTokenizerFast(
        tokenizer_object=built,
        model_max_length=fields["llama.context_length"],
        chat_template=fields["tokenizer.chat_template"],
        clean_up_tokenization_spaces=False,
        **{f"{ours}_token": names[fields[f"tokenizer.ggml.{theirs}_token_id"]] for ours, theirs in _ROLES.items()},
    )
