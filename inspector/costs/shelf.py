"""A shelf of well-known shapes: configurations without weights, written from what their papers and model cards say.

```python
SHELF["llama-2-70b"].config()  # a configuration of transformers; inspector.costs.count(...) says what it costs
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedConfig


@dataclass(frozen=True)
class Shape:
    """The sizes of a published model.

    title: the name people know. parameters: the number published for it, of the model that `architecture` builds.
    source: where the sizes stand. note: what the number of parameters counts, where that is a question.
    fields: of its config.json, in the spelling of transformers.
    """

    title: str
    kind: str
    architecture: str
    parameters: int
    source: str
    note: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)

    def config(self) -> PreTrainedConfig:
        """Build the configuration; no weight is read, and nothing is fetched."""
        from transformers import CONFIG_MAPPING

        config: PreTrainedConfig = CONFIG_MAPPING[self.kind](**self.fields)
        config.architectures = [self.architecture]
        return config


def _bert(title: str, parameters: int, *, width: int, layers: int) -> Shape:
    sizes = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": width // 64}
    sizes |= {"intermediate_size": 4 * width, "vocab_size": 30522, "max_position_embeddings": 512}
    source = "Devlin et al. 2019, section 3"
    return Shape(title, "bert", "BertModel", parameters, source, "with the pooler, without a head", sizes)


def _gpt2(title: str, parameters: int, *, width: int, layers: int, heads: int) -> Shape:
    sizes = {"n_embd": width, "n_layer": layers, "n_head": heads, "vocab_size": 50257, "n_positions": 1024}
    source = "Radford et al. 2019, table 2; heads from OpenAI's released hparams.json"
    note = "the output matrix is the embedding's, and counts once"
    return Shape(title, "gpt2", "GPT2LMHeadModel", parameters, source, note, sizes)


def _t5(title: str, parameters: int, *, width: int, ffn: int, layers: int, heads: int, head: int = 64) -> Shape:
    sizes = {"d_model": width, "d_ff": ffn, "num_layers": layers, "num_decoder_layers": layers, "num_heads": heads}
    sizes |= {"d_kv": head, "vocab_size": 32128}
    source = "Raffel et al. 2020, section 3.7 (version 1.0)"
    note = "the output matrix is the embedding's, and counts once"
    return Shape(title, "t5", "T5ForConditionalGeneration", parameters, source, note, sizes)


def _decoder(
    title: str,
    parameters: int,
    source: str,
    *,
    kind: str,
    architecture: str,
    width: int,
    ffn: int,
    layers: int,
    heads: int,
    kv_heads: int,
    vocabulary: int,
    positions: int,
    tied: bool = False,
    note: str = "",
    further: Mapping[str, Any] | None = None,
) -> Shape:
    """A decoder in the spelling that Llama began; `further` holds what its own kind adds."""
    sizes = {"hidden_size": width, "intermediate_size": ffn, "num_hidden_layers": layers, "vocab_size": vocabulary}
    sizes |= {"num_attention_heads": heads, "num_key_value_heads": kv_heads, "max_position_embeddings": positions}
    fields = {**sizes, "tie_word_embeddings": tied, **(further or {})}
    return Shape(title, kind, architecture, parameters, source, note, fields)


def _llama_2(title: str, parameters: int, *, width: int, ffn: int, layers: int, heads: int, kv_heads: int) -> Shape:
    return _decoder(
        title,
        parameters,
        "Touvron et al. 2023b, table 1; FFN widths from Meta's params.json",
        kind="llama",
        architecture="LlamaForCausalLM",
        width=width,
        ffn=ffn,
        layers=layers,
        heads=heads,
        kv_heads=kv_heads,
        vocabulary=32000,
        positions=4096,
    )


SHELF: Mapping[str, Shape] = {
    "bert-base": _bert("BERT base", 109_482_240, width=768, layers=12),
    "bert-large": _bert("BERT large", 335_141_888, width=1024, layers=24),
    "gpt2": _gpt2("GPT-2", 124_439_808, width=768, layers=12, heads=12),
    "gpt2-xl": _gpt2("GPT-2 XL", 1_557_611_200, width=1600, layers=48, heads=25),
    "t5-small": _t5("T5 small", 60_506_624, width=512, ffn=2048, layers=6, heads=8),
    "t5-base": _t5("T5 base", 222_903_552, width=768, ffn=3072, layers=12, heads=12),
    "t5-large": _t5("T5 large", 737_668_096, width=1024, ffn=4096, layers=24, heads=16),
    "t5-3b": _t5("T5 3B", 2_851_598_336, width=1024, ffn=16384, layers=24, heads=32, head=128),
    "llama-2-7b": _llama_2("Llama 2 7B", 6_738_415_616, width=4096, ffn=11008, layers=32, heads=32, kv_heads=32),
    "llama-2-13b": _llama_2("Llama 2 13B", 13_015_864_320, width=5120, ffn=13824, layers=40, heads=40, kv_heads=40),
    "llama-2-70b": _llama_2("Llama 2 70B", 68_976_648_192, width=8192, ffn=28672, layers=80, heads=64, kv_heads=8),
    "llama-3-8b": _decoder(
        "Llama 3 8B",
        8_030_261_248,
        "Grattafiori et al. 2024, table 3",
        kind="llama",
        architecture="LlamaForCausalLM",
        width=4096,
        ffn=14336,
        layers=32,
        heads=32,
        kv_heads=8,
        vocabulary=128256,
        positions=8192,
    ),
    "mistral-7b": _decoder(
        "Mistral 7B",
        7_241_732_096,
        "Jiang et al. 2023, table 1",
        kind="mistral",
        architecture="MistralForCausalLM",
        width=4096,
        ffn=14336,
        layers=32,
        heads=32,
        kv_heads=8,
        vocabulary=32000,
        positions=32768,
        further={"sliding_window": 4096},
    ),
    "mixtral-8x7b": _decoder(
        "Mixtral 8x7B",
        46_702_792_704,
        "Jiang et al. 2024, table 1",
        kind="mixtral",
        architecture="MixtralForCausalLM",
        width=4096,
        ffn=14336,
        layers=32,
        heads=32,
        kv_heads=8,
        vocabulary=32000,
        positions=32768,
        note="all eight experts; a token runs through two",
        further={"num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": None},
    ),
    "deepseek-v3": _decoder(
        "DeepSeek-V3",
        671_026_404_352,
        "DeepSeek-AI 2024, section 4.2",
        kind="deepseek_v3",
        architecture="DeepseekV3ForCausalLM",
        width=7168,
        ffn=18432,
        layers=61,
        heads=128,
        kv_heads=128,
        vocabulary=129280,
        positions=163840,
        note="all experts, without the module that predicts a second token; a token runs through 37 billion",
        further={
            "moe_intermediate_size": 2048,
            "n_shared_experts": 1,
            "n_routed_experts": 256,
            "num_experts_per_tok": 8,
            "n_group": 8,
            "topk_group": 4,
            "first_k_dense_replace": 3,
            "q_lora_rank": 1536,
            "kv_lora_rank": 512,
            "qk_rope_head_dim": 64,
            "qk_nope_head_dim": 128,
            "v_head_dim": 128,
        },
    ),
    "qwen3-8b": _decoder(
        "Qwen3 8B",
        8_190_735_360,
        "Yang et al. 2025, table 1, and its model card",
        kind="qwen3",
        architecture="Qwen3ForCausalLM",
        width=4096,
        ffn=12288,
        layers=36,
        heads=32,
        kv_heads=8,
        vocabulary=151936,
        positions=40960,
        further={"head_dim": 128},
    ),
    "gemma-2-9b": _decoder(
        "Gemma 2 9B",
        9_241_705_984,
        "Gemma Team 2024, table 1 (its FFN size 28672 is gate and up together)",
        kind="gemma2",
        architecture="Gemma2ForCausalLM",
        width=3584,
        ffn=14336,
        layers=42,
        heads=16,
        kv_heads=8,
        vocabulary=256000,
        positions=8192,
        tied=True,
        note="the output matrix is the embedding's, and counts once",
        further={"head_dim": 256, "sliding_window": 4096, "query_pre_attn_scalar": 256},
    ),
}
"""Known shapes by the name that a link uses."""
