"""Maps of transformers' own eager attention, one text at a time, and the tiny models that they are taken from.

What a head moves, f(x) = (x W_V + b_V) W_O (Kobayashi et al. 2020), is computed from the model's parameters by their
names and from what a forward hook saw go into the value projection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import nn
from transformers import (
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from inspector.probe.inputs import ModelInputs
from tests.inspector.atlas.plain_measures import Maps

Array = NDArray[np.float64]
SHARPER = 8.0
"""The factor of random query projections: without it maps are nearly uniform."""
MAX_TOKENS = 160
HEADS, WIDTH = 4, 32
WORDS = (
    "the cat saw the dog and the letter near the river . who liked my garden at home ?",
    "Ada painted the old window and a small machine , 1987 42 50 % - ( ) ; : ! \" ' $ 5 + 7 =",
    "Ben followed an orchestra behind the station . Cleo sold it under the bridge in 1990 for 36 .",
)


@dataclass(frozen=True)
class Attention:
    """One attention of a model as transformers names its parts.

    stream: "encoder", "decoder" or "cross". value, out: the projections. value_columns: where W_V stands in the
    outputs of `value`; None for all of them.
    """

    stream: str
    value: nn.Module
    out: nn.Module
    value_columns: tuple[int, int] | None = None


# --- running -----------------------------------------------------------------------------------------------------


def maps_of(network: nn.Module, attentions: list[Attention], inputs: ModelInputs) -> list[Maps]:
    """The maps of each attention on one text, in float64, from one run in float32."""
    seen: dict[nn.Module, torch.Tensor] = {}

    def keep(module: nn.Module, given: tuple[torch.Tensor, ...]) -> None:
        seen[module] = given[0][0].double()

    hooks = [attention.value.register_forward_pre_hook(keep) for attention in attentions]
    with torch.inference_mode():
        output = run(network, inputs)
    for hook in hooks:
        hook.remove()
    weights = by_stream(output)
    return [
        Maps(
            weights=(own := next(weights[attention.stream])[0].double().numpy()),
            lengths=moved_lengths(attention, seen[attention.value], heads=len(own)),
            keys=inputs.target if attention.stream == "decoder" and inputs.target else inputs.encoding,
            one_text=attention.stream != "cross",
            causal=attention.stream == "decoder",
        )
        for attention in attentions
    ]


def run(network: nn.Module, inputs: ModelInputs) -> Any:
    """Run the network as transformers does, with all maps."""
    ids = torch.tensor([inputs.encoding.ids])
    if inputs.target is None:
        return network(input_ids=ids, output_attentions=True)
    return network(input_ids=ids, decoder_input_ids=torch.tensor([inputs.target.ids]), output_attentions=True)


def by_stream(output: Any) -> dict[str, Any]:
    """The maps of each stream, in the order of its layers."""
    if "encoder_attentions" in output:
        return {
            "encoder": iter(output.encoder_attentions),
            "decoder": iter(output.decoder_attentions),
            "cross": iter(output.cross_attentions),
        }
    return {"encoder": iter(output.attentions), "decoder": iter(output.attentions)}


def moved_lengths(attention: Attention, x: torch.Tensor, *, heads: int) -> Array:
    """||f(x_j)|| of each head, [H, T]; heads that share a value share its W_V."""
    weight, bias = linear(attention.value, attention.value_columns)
    out, _ = linear(attention.out)
    size = len(out) // heads
    shared = heads * size // weight.shape[1]
    lengths = np.zeros((heads, len(x)))
    for head in range(heads):
        of_value = slice(head // shared * size, (head // shared + 1) * size)
        moved = (x.numpy() @ weight[:, of_value] + bias[of_value]) @ out[head * size : (head + 1) * size]
        lengths[head] = np.sqrt((moved**2).sum(axis=1))
    return lengths


def linear(module: nn.Module, columns: tuple[int, int] | None = None) -> tuple[Array, Array]:
    """W [in, out] and b [out] of a projection; GPT-2's keeps W as [in, out] itself."""
    weight = module.weight.detach().double().numpy()
    weight = weight.T if isinstance(module, nn.Linear) else weight
    bias = np.zeros(weight.shape[1]) if module.bias is None else module.bias.detach().double().numpy()
    return (weight, bias) if columns is None else (weight[:, slice(*columns)], bias[slice(*columns)])


# --- models ------------------------------------------------------------------------------------------------------


def bert(network: Any) -> list[Attention]:
    parts = [layer.attention for layer in network.encoder.layer]
    return [Attention("encoder", part.self.value, part.output.dense) for part in parts]


def gpt2(network: Any) -> list[Attention]:
    parts = [layer.attn for layer in network.transformer.h]
    return [Attention("decoder", part.c_attn, part.c_proj, (2 * WIDTH, 3 * WIDTH)) for part in parts]


def llama(network: Any) -> list[Attention]:
    parts = [layer.self_attn for layer in network.model.layers]
    return [Attention("decoder", part.v_proj, part.o_proj) for part in parts]


def t5(network: Any) -> list[Attention]:
    """The encoder's, then of each decoder layer its own and the one to the encoder: the order that they run in."""
    reads = [Attention("encoder", part.v, part.o) for part in (b.layer[0].SelfAttention for b in network.encoder.block)]
    for block in network.decoder.block:
        for stream, part in (("decoder", block.layer[0].SelfAttention), ("cross", block.layer[1].EncDecAttention)):
            reads.append(Attention(stream, part.v, part.o))
    return reads


@dataclass(frozen=True)
class Tiny:
    """A tiny random model: its network, its tokenizer, and its attentions in the order that they run in."""

    network: Callable[[int], nn.Module]
    tokenizer: Callable[[], PreTrainedTokenizerFast]
    attentions: Callable[[Any], list[Attention]]


def save(tiny: Tiny, folder: Path) -> nn.Module:
    """Save a tiny model as transformers does, with sharper maps than random ones, and return it."""
    tokenizer = tiny.tokenizer()
    torch.manual_seed(0)
    network = tiny.network(len(tokenizer)).eval()
    queries = ("query", "q_proj", "SelfAttention.q", "EncDecAttention.q")
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.2)
            else:
                parameter.add_(0.1 * torch.randn_like(parameter))
            if name.removesuffix(".weight").endswith(queries):
                parameter.mul_(SHARPER)
            if name.endswith("c_attn.weight"):
                parameter[:, :WIDTH].mul_(SHARPER)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return network


def _bert_network(vocabulary: int) -> nn.Module:
    return BertModel(
        BertConfig(
            vocab_size=vocabulary,
            hidden_size=WIDTH,
            num_hidden_layers=2,
            num_attention_heads=HEADS,
            intermediate_size=48,
            max_position_embeddings=MAX_TOKENS,
            attn_implementation="eager",
        )
    )


def _gpt2_network(vocabulary: int) -> nn.Module:
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary,
            n_embd=WIDTH,
            n_layer=2,
            n_head=HEADS,
            n_positions=MAX_TOKENS,
            attn_implementation="eager",
            **ends,
        )
    )


def _llama_network(vocabulary: int) -> nn.Module:
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=WIDTH,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=HEADS,
            num_key_value_heads=2,
            max_position_embeddings=MAX_TOKENS,
            attn_implementation="eager",
        )
    )


def _t5_network(vocabulary: int) -> nn.Module:
    return T5ForConditionalGeneration(
        T5Config(
            vocab_size=vocabulary,
            d_model=WIDTH,
            d_kv=8,
            d_ff=48,
            num_layers=2,
            num_heads=HEADS,
            decoder_start_token_id=0,
            attn_implementation="eager",
        )
    )


# --- tokenizers --------------------------------------------------------------------------------------------------


def _word_pieces() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = list("abcdefghijklmnopqrstuvwxyz0123456789")
    trainer = trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=special, initial_alphabet=letters, show_progress=False
    )
    tokenizer.train_from_iterator(WORDS, trainer)
    _frame(tokenizer, "[CLS] $A [SEP]", ("[CLS]", "[SEP]"))
    names = {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    return _wrapped(tokenizer, pad_token="[PAD]", unk_token="[UNK]", **names)


def _byte_level() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<|endoftext|>"], initial_alphabet=letters, show_progress=False
    )
    tokenizer.train_from_iterator(WORDS, trainer)
    return _wrapped(tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>")


def _spaces_as_marks() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()])
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False)
    tokenizer.train_from_iterator(WORDS, trainer)
    _frame(tokenizer, "<s> $A", ("<s>",))
    return _wrapped(tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


def _unigrams() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=200, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(WORDS, trainer)
    _frame(tokenizer, "$A </s>", ("</s>",))
    return _wrapped(tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def _frame(tokenizer: Tokenizer, single: str, special: tuple[str, ...]) -> None:
    """Let every text stand between special tokens."""
    ids = [(token, tokenizer.token_to_id(token)) for token in special]
    tokenizer.post_processor = processors.TemplateProcessing(single=single, special_tokens=ids)


def _wrapped(tokenizer: Tokenizer, **names: str) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=MAX_TOKENS, **names)


MODELS: Mapping[str, Tiny] = {
    "BERT": Tiny(_bert_network, _word_pieces, bert),
    "GPT-2": Tiny(_gpt2_network, _byte_level, gpt2),
    "Llama": Tiny(_llama_network, _spaces_as_marks, llama),
    "T5": Tiny(_t5_network, _unigrams, t5),
}
"""The models by the family whose shape they have."""
