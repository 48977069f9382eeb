"""The families of transformers that are held to its own eager attention: a tiny random model of each."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import (
    CONFIG_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from models.transformer.subwords import as_transformers, train_subwords

WINDOW = 4
LEARNED, SINUSOIDAL, ROPE, ALIBI, BUCKETS = "learned", "sinusoidal", "RoPE", "ALiBi", "T5 buckets"
DISENTANGLED, RELATIVE, NONE = "disentangled", "relative", "none"


@dataclass(frozen=True)
class Family:
    """A model type of transformers.

    positions: how it knows where a token stands. sizes: of its tiny configuration, what `SMALL` does not give; None
    leaves one of those out. note: what else is special. kinds: the attention of its layers, where the configuration
    gives local ones a window; None: all global. kv_heads: of each layer, where the configuration
    has no one number for all.
    """

    name: str
    positions: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    kinds: tuple[int | None, ...] = ()
    kv_heads: tuple[int, ...] = ()


SMALL: dict[str, Any] = {
    **dict.fromkeys(
        ("hidden_size", "d_model", "n_embd", "dim", "emb_dim", "embedding_size", "word_embed_proj_dim"), 32
    ),
    **dict.fromkeys(("num_hidden_layers", "n_layers", "num_layers", "n_layer", "encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_decoder_layers", "num_encoder_layers", "num_key_value_heads", "num_experts_per_tok"), 2),
    **dict.fromkeys(("num_attention_heads", "n_heads", "n_head", "num_heads", "encoder_attention_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "num_encoder_attention_heads", "num_decoder_attention_heads"), 4),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "sliding_window"), 4),
    **dict.fromkeys(("intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff", "hidden_dim", "ffn_dim"), 48),
    **dict.fromkeys(("n_inner", "ffn_hidden_size", "d_inner", "dff"), 48),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_encoder_position_embeddings", "n_ctx"), 64),
    "max_decoder_position_embeddings": 64,
    "moe_intermediate_size": 16,
    "head_dim": 8,
    "d_kv": 8,
    "vocab_size": 300,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "decoder_start_token_id": 2,
}
"""Sizes by whatever names a configuration gives them; one is used where the configuration has it."""

_LATENT = {"q_lora_rank": 16, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8}
_LATENT |= {"head_dim": 4, "num_key_value_heads": 4}
_INDEXED = {
    "index_topk": 64,
    "index_head_dim": 8,
    "index_n_heads": 2,
}  # more keys than these texts have: none is left out
_ROUTED = {"n_group": 1, "topk_group": 1, "first_k_dense_replace": 1, "n_shared_experts": 1}
_MAMBA_2 = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 8, "mamba_chunk_size": 8, "mamba_expand": 2}
_FALCON_H1 = {"mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_chunk_size": 8}
_LINEAR_FIRST = {"layer_types": ["linear_attention", "full_attention"]}
_DELTA = dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 8) | _LINEAR_FIRST
_DELTA |= {"linear_num_key_heads": 2, "linear_num_value_heads": 4}
_INKLING = {
    "swa_num_attention_heads": 4,
    "swa_num_key_value_heads": 2,
    "swa_head_dim": 8,
    "sliding_window_size": WINDOW,
}
_ALTERNATING = {"layer_types": ["sliding_attention", "full_attention"]}
_BLOCKS = {"block_sizes": [1, 1], "d_head": 8, "num_decoder_layers": 1, "num_hidden_layers": None, "num_layers": None}
_NO_PICTURE = "no picture is given"
_ZAMBA = {"mamba_d_state": 8, "n_mamba_heads": 8, "layers_block_type": ["mamba", "hybrid"], "num_key_value_heads": 4}
_ZAMBA |= {"attention_hidden_size": 64, "attention_head_dim": 16, "hybrid_layer_ids": [1], "adapter_rank": 4}
_ZAMBA |= {"use_mamba_kernels": False, "chunk_size": 8, "head_dim": None}
_GLOBAL = {"global_head_dim": 8, **_ALTERNATING}
_PER_LAYER = {"hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 300, "global_head_dim": 8, **_ALTERNATING}
_ROTATED = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}
_SECTIONS = {"rope_parameters": _ROTATED}
_WIDE = {"rope_parameters": {**_ROTATED, "partial_rotary_factor": 0.5}, "head_dim": 16}
_SPARSE = {"num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1}  # layers with experts
_STARTED = {"decoder_start_token_id": 0}  # T5's configuration has no such name by itself
_UNLIMITED = dict.fromkeys(("max_position_embeddings", "n_positions", "hidden_dim"))

ENCODERS = (
    Family("bert", LEARNED),
    Family("roberta", LEARNED),
    Family("distilbert", LEARNED),
    Family("albert", LEARNED, note="its layers share one set of weights"),
    Family("electra", LEARNED),
    Family("camembert", LEARNED),
    Family("xlm-roberta", LEARNED),
    Family("xlm-roberta-xl", LEARNED),
    Family("xmod", LEARNED, {"languages": ["en_XX"], "default_language": "en_XX"}, note="an adapter for each language"),
    Family("roberta-prelayernorm", LEARNED),
    Family("data2vec-text", LEARNED),
    Family("ernie", LEARNED),
    Family("roc_bert", LEARNED, note="shapes and sounds of characters are left at 0"),
    Family("deberta", f"{LEARNED} and {DISENTANGLED}", {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}),
    Family(
        "deberta-v2",
        f"{LEARNED} and {DISENTANGLED}",
        {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 8},
    ),
    Family("mpnet", f"{LEARNED} and {BUCKETS}"),
    Family("modernbert", ROPE, {"local_attention": 8, "global_attn_every_n_layers": 2}, kinds=(None, 5)),
    Family("eurobert", ROPE),
    Family("nomic_bert", ROPE),
    Family(
        "big_bird",
        LEARNED,
        {"attention_type": "original_full"},  # of its default, transformers hands out no maps of a short text
        note="its default, block-sparse, too: in blocks in texts of more than 5 + 2r blocks, else in full",
    ),
    Family("convbert", LEARNED, note="half of the heads are convolutions, which have no map"),
    Family("roformer", ROPE),
    Family("rembert", LEARNED),
    Family("megatron-bert", LEARNED),
    Family(
        "nystromformer",
        LEARNED,
        {"segment_means_seq_len": 64},
        note="full attention; with fewer landmarks it is refused",
    ),
    Family("squeezebert", LEARNED, note="hands out its scores as maps"),
    Family(
        "mobilebert",
        LEARNED,
        {"embedding_size": 16, "true_hidden_size": 32, "intra_bottleneck_size": 32},
        note="no norms",
    ),
    Family("ibert", LEARNED, note="not quantised"),
    Family("esm", ROPE, {"mask_token_id": 4, "position_embedding_type": "rotary"}),
    Family("xlm", LEARNED, {"mask_token_id": 4, "pad_index": 0}),
    Family("flaubert", LEARNED, {"mask_token_id": 4, "pad_index": 0}),
    Family("esmc", ROPE, {"num_key_value_heads": 4}),
    Family("gte", ROPE),
    Family("jina_embeddings_v3", ROPE),
    Family("layoutlm", LEARNED, {"max_2d_position_embeddings": 16}, note="boxes on the page are left at 0"),
    Family("luke", LEARNED, {"entity_vocab_size": 8, "entity_emb_size": 16}, note="no entities are given"),
    Family("tapas", LEARNED, {"type_vocab_sizes": [3, 8, 8, 2, 8, 8, 4]}, note="places in a table are left at 0"),
    Family("neomme", ROPE, {"head_dim": 16, "embedding_rank": 16, "embedding_dim": 16}, kinds=(5, None)),
    Family("ultrabert", ROPE, kinds=(5, 5)),
    Family(
        "modernvbert",
        ROPE,
        {"text_config": {"local_attention": 8, "global_attn_every_n_layers": 2}},
        note=_NO_PICTURE,
        kinds=(None, 5),
    ),
    Family("ultravbert", ROPE, note=_NO_PICTURE, kinds=(5, 5)),
    Family("longformer", LEARNED, {"attention_window": 8}, kinds=(5, 5), note="no tokens with global attention"),
    Family("xlnet", RELATIVE, _UNLIMITED, note="read both ways, without its head"),
)

DECODERS = (
    Family("gpt2", LEARNED),
    Family("openai-gpt", LEARNED),
    Family(
        "gpt_neo",
        LEARNED,
        {"attention_types": [[["global", "local"], 1]], "window_size": WINDOW},
        kinds=(None, WINDOW),
    ),
    Family("gpt_neox", ROPE),
    Family("gptj", ROPE, {"rotary_dim": 4}),
    Family("codegen", ROPE, {"rotary_dim": 4}),
    Family("gpt_bigcode", LEARNED),
    Family("biogpt", LEARNED),
    Family("ctrl", SINUSOIDAL),
    Family("xglm", SINUSOIDAL),
    Family("opt", LEARNED),
    Family("bloom", ALIBI),
    Family("mpt", ALIBI),
    Family("falcon", ROPE, {"head_dim": None, "multi_query": True}),
    Family("llama", ROPE),
    Family("mistral", ROPE, kinds=(WINDOW, WINDOW)),
    Family("ministral", ROPE, kinds=(WINDOW, WINDOW)),
    Family("mixtral", ROPE, kinds=(WINDOW, WINDOW), note="experts"),
    Family("qwen2", ROPE, {"use_sliding_window": True, "max_window_layers": 1}, kinds=(None, WINDOW)),
    Family("qwen3", ROPE, note="norms of queries and keys"),
    Family("qwen2_moe", ROPE, note="experts"),
    Family("qwen3_moe", ROPE, note="norms of queries and keys; experts"),
    Family("gemma", ROPE),
    Family("gemma2", ROPE, {"query_pre_attn_scalar": 8}, kinds=(WINDOW, None)),
    Family("gemma3_text", ROPE, {"query_pre_attn_scalar": 8, **_ALTERNATING}, kinds=(WINDOW, None)),
    Family("phi", ROPE),
    Family("phi3", ROPE, kinds=(WINDOW, WINDOW)),
    Family("phimoe", ROPE, kinds=(WINDOW, WINDOW), note="experts"),
    Family("olmo", ROPE, note="norms without gamma and beta"),
    Family("olmo2", ROPE),
    Family("olmo3", ROPE, _ALTERNATING, kinds=(WINDOW, None)),
    Family("olmoe", ROPE, note="experts"),
    Family("starcoder2", ROPE, kinds=(WINDOW, WINDOW)),
    Family("stablelm", ROPE),
    Family("cohere", ROPE),
    Family("cohere2", ROPE, _ALTERNATING, kinds=(WINDOW, None)),
    Family("granite", ROPE),
    Family("granitemoe", ROPE, note="experts"),
    Family("gpt_oss", ROPE, _ALTERNATING, kinds=(WINDOW, None), note="experts"),
    Family("persimmon", ROPE),
    Family("glm", ROPE),
    Family("glm4", ROPE),
    Family("smollm3", ROPE),
    Family("glm4_moe", ROPE, note="experts"),
    Family("llama4_text", ROPE, {"attention_chunk_size": 64}, note="experts; chunks longer than the text"),
    Family("modernbert-decoder", ROPE, _ALTERNATING | {"local_attention": 6}, kinds=(WINDOW, None)),
    Family(
        "lfm2",
        ROPE,
        {"layer_types": ["conv", "full_attention"]},
    ),
    Family("falcon_h1", ROPE, _FALCON_H1, note="both beside each other"),
    Family("exaone4", ROPE, _ALTERNATING, kinds=(WINDOW, None)),
    Family("deepseek_v3", ROPE, {**_LATENT, **_ROUTED}, note="latent keys and values; experts"),
    Family("helium", ROPE),
    Family("diffllama", ROPE, note="heads h and h + H/2 make one output, the difference of their maps"),
    Family("nemotron", ROPE, note="its gamma is kept less 1"),
    Family("arcee", ROPE),
    Family("seed_oss", ROPE),
    Family("apertus", ROPE),
    Family("bitnet", ROPE),
    Family("hunyuan_v1_dense", ROPE),
    Family(
        "jamba",
        NONE,
        {"attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 4, "mamba_dt_rank": 4},
    ),
    Family("afmoe", ROPE, note="experts", kinds=(WINDOW, WINDOW)),
    Family("aria_text", ROPE, note="experts"),
    Family(
        "bailing_hybrid",
        ROPE,
        {**_LATENT, **_ROUTED, **_LINEAR_FIRST, "num_mtp_layers": 0},
        note="latent keys and values; experts",
    ),
    Family("beam", ROPE, kinds=(WINDOW, None)),
    Family("bert-generation", LEARNED, {"is_decoder": True}),
    Family("cohere2_moe", ROPE, note="experts", kinds=(WINDOW, WINDOW)),
    Family("cwm", ROPE, kinds=(None, WINDOW)),
    Family("deepseek_v2", ROPE, {**_LATENT, **_ROUTED}, note="latent keys and values; experts"),
    Family(
        "deepseek_v32",
        ROPE,
        {**_LATENT, **_ROUTED, **_INDEXED},
        note="latent keys and values; an index chooses the keys; experts",
    ),
    Family("doge", ROPE, note="a learned mask", kinds=(WINDOW, WINDOW)),
    Family("dots1", ROPE, _ROUTED, note="experts"),
    Family("ernie4_5", ROPE),
    Family("ernie4_5_moe", ROPE, note="experts"),
    Family("exaone_moe", ROPE, note="experts", kinds=(WINDOW, WINDOW)),
    Family("flex_olmo", ROPE, note="experts"),
    Family("flint", ROPE),
    Family("git", LEARNED, note=_NO_PICTURE),
    Family("glm4_moe_lite", ROPE, {**_LATENT, **_ROUTED}, note="latent keys and values; experts"),
    Family(
        "glm_moe_dsa",
        ROPE,
        {**_LATENT, **_ROUTED, **_INDEXED},
        note="latent keys and values; an index chooses the keys; experts",
    ),
    Family("gpt-sw3", LEARNED),
    Family("gpt_neox_japanese", ROPE),
    Family("granite_swa", ROPE, kinds=(None, WINDOW)),
    Family("granitemoe_swa", ROPE, note="experts", kinds=(None, WINDOW)),
    Family("granitemoeshared", ROPE, note="experts"),
    Family("hunyuan_v1_moe", ROPE, note="experts"),
    Family("hy_v3", ROPE, note="experts"),
    Family("hyperclovax", ROPE),
    Family("inkling_text", RELATIVE, _INKLING, kinds=(WINDOW, WINDOW)),
    Family("internlm3", ROPE),
    Family("iquestcoder", ROPE),
    Family("jais2", ROPE),
    Family("jetmoe", ROPE, note="experts of attention too, each with its queries", kv_heads=(4, 4)),
    Family(
        "kimi_linear",
        NONE,
        {**_LATENT, **_ROUTED, **_LINEAR_FIRST, "linear_head_dim": 8, "linear_num_heads": 4},
        note="latent keys and values; experts",
    ),
    Family("kolibri1", ROPE, kinds=(WINDOW, WINDOW)),
    Family("laguna", ROPE, note="experts"),
    Family(
        "lfm2_moe",
        ROPE,
        {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
        note="experts",
    ),
    Family(
        "lfm3",
        ROPE,
        {"layer_types": ["conv", "full_attention"]},
    ),
    Family(
        "longcat_flash",
        ROPE,
        {**_LATENT, "expert_ffn_hidden_size": 16, "zero_expert_num": 2, "moe_topk": 2},
        note="latent keys and values; a layer attends twice; experts",
    ),
    Family("mellum", ROPE, note="experts"),
    Family("mimo_v2_flash", ROPE, kv_heads=(2, 4), note="experts", kinds=(None, WINDOW)),
    Family("minicpm3", ROPE, _LATENT, note="latent keys and values"),
    Family(
        "minimax",
        ROPE,
        {"block_size": 8},
        note="experts",
        kinds=(WINDOW,),
    ),
    Family("minimax_m2", ROPE, note="experts"),
    Family("minimax_m3_vl_text", ROPE, note="experts"),
    Family("ministral3", ROPE, kinds=(WINDOW, WINDOW)),
    Family("moshi", ROPE),
    Family("olmo_hybrid", ROPE, _DELTA),
    Family("phi4_multimodal", ROPE, note="no picture and no sound is given", kinds=(WINDOW, WINDOW)),
    Family("qwen3_5_text", ROPE, _DELTA),
    Family("qwen3_5_moe_text", ROPE, _DELTA, note="experts"),
    Family("qwen3_next", ROPE, _DELTA, note="experts"),
    Family("solar_open", ROPE, note="experts"),
    Family("vaultgemma", ROPE, kinds=(WINDOW, None)),
    Family("youtu", ROPE, _LATENT, note="latent keys and values"),
    Family("emu3", ROPE, note=_NO_PICTURE),
    Family("fuyu", ROPE, note=_NO_PICTURE),
    Family(
        "gemma3",
        ROPE,
        {"text_config": {"query_pre_attn_scalar": 8, **_ALTERNATING}},
        note=_NO_PICTURE,
        kinds=(WINDOW, None),
    ),
    Family("got_ocr2", ROPE, {"vision_config": {"output_channels": 16, "mlp_dim": 16}}, note=_NO_PICTURE),
    Family(
        "llama4",
        ROPE,
        {"text_config": {"attention_chunk_size": 64}},
        note="its text alone; chunks longer than the text",
    ),
    Family("mllama", ROPE, note="its text alone"),
    Family("qwen3_5", ROPE, {"text_config": _DELTA}, note="its text alone"),
    Family("qwen3_5_moe", ROPE, {"text_config": _DELTA}, note="as qwen3_5; experts"),
    Family(
        "recurrent_gemma",
        ROPE,
        {"block_types": ["recurrent", "attention"], "attention_window_size": WINDOW, "lru_width": 32},
        kinds=(WINDOW,),
    ),
    Family("trocr", LEARNED, note="its decoder alone, without a picture to attend to"),
    Family(
        "whisper",
        LEARNED,
        {"max_target_positions": 64, "max_source_positions": 16},
        note="its decoder alone, without a sound to attend to",
    ),
    Family("axk1", ROPE, {**_LATENT, **_ROUTED}, note="latent keys and values; experts"),
    Family(
        "axk2",
        ROPE,
        {**_LATENT, **_ROUTED, **_INDEXED, "gated_norm_rank": 4},
        note="latent keys and values; an index chooses the keys; its gated norms are refused; experts",
    ),
    Family("bamba", ROPE, {**_MAMBA_2, "attn_layer_indices": [1]}),
    Family(
        "granitemoehybrid",
        NONE,
        {**_MAMBA_2, "layer_types": ["mamba", "attention"], "shared_intermediate_size": 16},
        note="experts",
    ),
    Family("hrm_text", ROPE, note="its layers run again and again"),
    Family("nanochat", ROPE, note="norms without gamma"),
    Family(
        "gemma3n_text",
        ROPE,
        {
            **{"num_hidden_layers": 4, "num_kv_shared_layers": 2, "laurel_rank": 4},
            **{"hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 300},
            **{
                "layer_types": ["sliding_attention", "full_attention"] * 2,
                "activation_sparsity_pattern": [0.5, 0.0] * 2,
            },
        },
        note="later layers take the keys of earlier ones",
        kinds=(WINDOW, None) * 2,
    ),
    Family(
        "gemma4_text",
        ROPE,
        _PER_LAYER,
        kinds=(WINDOW, None),
    ),
    Family("gemma4_unified_text", ROPE, _GLOBAL, kinds=(WINDOW, None)),
    Family("inkling2_text", RELATIVE, _INKLING, kinds=(WINDOW, WINDOW)),
    Family(
        "nemotron_h",
        NONE,
        {
            "layers_block_type": ["mamba", "attention"],
            "mamba_num_heads": 4,
            "mamba_head_dim": 8,
            "ssm_state_size": 8,
            "n_groups": 1,
        },
        note="a layer is attention, a state space or an FFN",
    ),
    Family("zamba2", NONE, _ZAMBA, note="its attention shares weights"),
    Family("zaya", ROPE, {"num_experts": 3, "num_experts_per_tok": 1, "router_hidden_size": 16}, note="experts"),
    Family(
        "gemma4",
        ROPE,
        {"text_config": _PER_LAYER, "audio_config": None, "vision_config": None},
        note=_NO_PICTURE,
        kinds=(WINDOW, None),
    ),
    Family("gemma4_unified", ROPE, {"text_config": _GLOBAL}, note=_NO_PICTURE, kinds=(WINDOW, None)),
    Family(
        "dots3_note_text",
        ROPE,
        {**_LATENT, **_ROUTED, **_INDEXED, "shared_experts_intermediate_size": 16},
        note="latent keys and values; an index chooses the keys; experts",
    ),
)

ENCODER_DECODERS = (
    Family("t5", BUCKETS, _STARTED),
    Family("mt5", BUCKETS, {"feed_forward_proj": "gated-gelu", **_STARTED}),
    Family("umt5", BUCKETS, _STARTED, note="buckets of every layer's own"),
    Family("switch_transformers", BUCKETS, {**_STARTED, **_SPARSE, "expert_capacity": 8}, note="experts"),
    Family("bart", LEARNED),
    Family("mbart", LEARNED),
    Family("plbart", LEARNED),
    Family("mvp", LEARNED),
    Family("marian", SINUSOIDAL),
    Family("fsmt", SINUSOIDAL, {"langs": ["en", "de"], "src_vocab_size": 300, "tgt_vocab_size": 300}),
    Family("pegasus", SINUSOIDAL),
    Family("bigbird_pegasus", LEARNED, {"attention_type": "original_full"}, note="its encoder as big_bird"),
    Family("led", LEARNED, {"attention_window": 8}, kinds=(5, 5, *(None,) * 4), note="no tokens with global attention"),
    Family(
        "longt5",
        BUCKETS,
        {"local_radius": 5, **_STARTED},
        kinds=(6, 6, *(None,) * 4),
        note="its encoder local; with keys of 16 tokens each (transient-global), too",
    ),
    Family(
        "pegasus_x",
        SINUSOIDAL,
        {"block_size": 6, "num_global_tokens": 3},
        note="its encoder in blocks and to global tokens, whose own maps are not shown",
    ),
    Family("m2m_100", SINUSOIDAL),
    Family(
        "nllb-moe",
        SINUSOIDAL,
        {"encoder_sparse_step": 2, "decoder_sparse_step": 2},
        note="experts; transformers takes the 0 and 1 of its router's mask for their numbers, and runs no others",
    ),
    Family("blenderbot", LEARNED),
    Family("blenderbot-small", LEARNED),
    Family(
        "encoder-decoder", LEARNED, {"decoder": {"is_decoder": True, "add_cross_attention": True}}, note="two BERTs"
    ),
    Family(
        "t5gemma",
        ROPE,
        {"encoder": {"query_pre_attn_scalar": 8}, "decoder": {"query_pre_attn_scalar": 8}},
        kinds=(5, None, WINDOW, None, None, None),
    ),
    Family("seamless_m4t", SINUSOIDAL, note="of text to text; no sound is given"),
    Family("seamless_m4t_v2", SINUSOIDAL, note="of text to text; no sound is given"),
)

UNLISTED_TEXT = (
    *(Family(name, LEARNED) for name in ("clip_text_model", "dpr", "markuplm", "splinter", "visual_bert")),
    Family("layoutlmv3", LEARNED, {"coordinate_size": 6, "shape_size": 4, "max_2d_position_embeddings": 16}),
    *(Family(name, ROPE) for name in ("embedding_gemma2_text", "openai_privacy_filter", "granite_docling_text")),
    *(Family(name, ROPE) for name in ("molmo2_text", "muse_glimmer_text", "muse_spark_text")),
    Family("mistral4", ROPE, {**_LATENT, **_ROUTED, "head_dim": None}),
    Family("mistral_large4_text", ROPE, {**_LATENT, **_ROUTED}),
    *(Family(name, ROPE, _SECTIONS) for name in ("cosmos3_edge_text", "glm4v_text", "hunyuan_vl_text")),
    *(Family(name, ROPE, _SECTIONS) for name in ("qwen2_vl_text", "qwen2_5_vl_text", "qwen3_vl_text")),
    Family("qwen3_vl_moe_text", ROPE, _SECTIONS),
    *(Family(name, ROPE, _WIDE) for name in ("glm4v_moe_text", "glm_image_text", "glm_ocr_text")),
)
"""Text models for which transformers lists no head that predicts tokens: the bare model is read."""

UNLISTED_OF_MORE = (
    *(Family(name, ROPE) for name in ("aria", "aya_vision", "cohere2_vision", "cosmos3_omni", "deepseek_vl")),
    *(Family(name, ROPE) for name in ("deepseek_vl_hybrid", "embedding_gemma2", "exaone4_5", "hyperclovax_vision_v2")),
    *(Family(name, ROPE) for name in ("idefics2", "idefics3", "inkling_mm_model", "internvl", "kosmos-2.5", "lfm2_vl")),
    *(Family(name, ROPE) for name in ("lighton_ocr", "llava", "llava_next", "llava_next_video", "llava_onevision")),
    *(Family(name, ROPE) for name in ("minimax_m3_vl", "mistral3", "ovis2", "paligemma", "qianfan_ocr", "qwen3_vl")),
    *(Family(name, ROPE) for name in ("qwen3_vl_moe", "smolvlm", "step3p7", "video_llava", "vipllava")),
    Family("kimi_k25", ROPE, {"text_config": {**_LATENT, **_ROUTED}}),
    *(Family(name, ROPE, {"text_config": _SECTIONS}) for name in ("paddleocr_vl", "qwen2_5_vl")),
    Family("qwen2_vl", ROPE, {"text_config": _SECTIONS, "vision_config": {"embed_dim": 32, "depth": 1}}),
    *(Family(name, ROPE, {"text_config": _WIDE}) for name in ("glm4v", "glm46v", "glm4v_moe")),
)
"""Models of more than text for which transformers lists no such head, and that run on text alone."""

REFUSED = (
    Family("funnel", RELATIVE, _BLOCKS, note="pools its tokens: queries are fewer than tokens"),
    Family("prophetnet", LEARNED, {"num_hidden_layers": None}, note="a second stream of queries predicts n-grams"),
    Family(
        "reformer",
        LEARNED,
        {"axial_pos_shape": [8, 8], "axial_pos_embds_dim": [16, 16], "attn_layers": ["local", "lsh"]},
        note="compares tokens of the same hash",
    ),
    Family("mra", LEARNED, note="approximates blocks at several resolutions"),
    Family(
        "cpmant",
        BUCKETS,
        {"dim_head": 8, "dim_ff": 48, "position_bias_num_buckets": 8, "prompt_types": 4, "segment_types": 4},
        note="reads prompt tokens of its own before the text",
    ),
    Family("deepseek_v4", ROPE, note="sees compressed stretches of the text as keys"),
    Family("hy_v4", ROPE, note="an index chooses the keys before the softmax"),
    Family("t5gemma2", ROPE, note="one softmax over the decoder's tokens and the source's"),
    Family("fnet", LEARNED, note="Fourier transforms instead of attention"),
)
"""The families that the loader refuses, with a sentence that says why."""

WITHOUT_SOFTMAX = (
    Family("yoso", LEARNED, note="in expectation; where it draws its hashes it is refused"),
    Family("rwkv", NONE),
    Family("mamba", NONE),
    Family("mamba2", NONE, {"num_heads": 4, "head_dim": 16, "n_groups": 1}),
    Family("falcon_mamba", NONE),
)
"""The families without a softmax over tokens, whose layers have a map all the same."""

NOT_RUN = (
    Family("blt", ROPE, {"encoder_hash_byte_group_vocab": 64}, note="'BltConfig' object has no attribute"),
    Family("cohere_compass_text", ROPE, note="'full_attention'"),
    Family("dots3_note", ROPE, note="num_key_value_heads must match num_attention_heads"),
    Family(
        "dbrx",
        ROPE,
        {"attn_config": {"kv_n_heads": 2}, "ffn_config": {"ffn_hidden_size": 48}},
        note="'DbrxAttentionConfig' object has no attribute 'rope_theta'",
    ),
    Family("gemma3n", ROPE, {"text_config": {"num_kv_shared_layers": 0}}, note="requires the timm library"),
    Family("gemma4_assistant", ROPE, note="hidden_size_per_layer_input must be 0"),
    Family("gemma4_unified_assistant", ROPE, note="layer types producing a cache is different"),
    Family("qwen4_exp", ROPE, note="`get_seq_length` can only be called on Attention layers"),
    Family("qwen4_exp_text", ROPE, _DELTA, note="unsupported operand type(s) for //"),
    Family("xlstm", NONE, {"chunk_size": 8}, note="matC_old has wrong shape"),
    Family(
        "zamba",
        NONE,
        {
            **{"mamba_d_state": 8, "n_mamba_heads": 2, "attn_layer_period": 2, "attn_layer_offset": 1},
            **{"num_hidden_layers": 4, "num_key_value_heads": 4, "use_mamba_kernels": False},
        },
        note="`tie_weights_keys`",
    ),
)
"""The families that transformers itself does not build or run with these tiny sizes, and a part of what it says."""

NOT_TEXT = {
    **dict.fromkeys(("audioflamingo3", "glmasr", "granite_speech", "granite_speech_plus", "musicflamingo"), "sound"),
    **dict.fromkeys(("moss_transcribe_diarize", "nemo_speechlm", "qwen2_audio", "qwen3_asr"), "sound"),
    **dict.fromkeys(("vibevoice_asr", "voxtral", "voxtral_realtime"), "sound"),
    **dict.fromkeys(("musicgen", "musicgen_melody"), "codes of sound"),
    "perceiver": "arrays of any kind, into latent vectors",
}
"""The models that read no text: by type, what they read."""

CAPTURED = (*ENCODERS, *DECODERS, *ENCODER_DECODERS)


def save(family: Family, folder: Path, *, seed: int = 0, as_drawn: bool = False) -> None:
    """A tiny random model of the family with a tiny tokenizer, as transformers saves them.

    Weights are larger than at the start of a training, so that maps are far from uniform; gammas and biases are not 1
    and 0, so that a norm that forgets them is seen. as_drawn: leave all as transformers draws it.
    """
    config = _config(family)
    torch.manual_seed(seed)
    network = _class(family.name).from_config(config).eval()
    with torch.no_grad():
        modules = [module for module in network.modules() if "Sinusoidal" not in type(module).__name__]  # these stay
        parameters = () if as_drawn else [own for module in modules for own in module.parameters(recurse=False)]
        for parameter in dict.fromkeys(parameters):
            if parameter.ndim > 1:
                parameter.normal_(0, 0.2)
            else:
                parameter.add_(0.1 * torch.randn_like(parameter))
    network.save_pretrained(folder)
    tokenizer().save_pretrained(folder)


def named(family: Family) -> Any:
    """Give the configuration of the family's tiny model, with the name of the class that `save` builds."""
    config = _config(family)
    found = _class(family.name)._model_mapping[type(config)]
    config.architectures = [(found[0] if isinstance(found, list | tuple) else found).__name__]
    return config


def tokenizer() -> Any:
    """A vocabulary of at most 300 tokens: 0 is the padding, 2 begins and 3 ends a text."""
    texts = ["the cat sat on the mat", "the dog sat on the log because it was tired"]
    return as_transformers(train_subwords(texts, vocabulary=300), max_tokens=64)


def _config(family: Family) -> Any:
    kind = CONFIG_MAPPING[family.name]
    return kind(**_sizes(kind, deepcopy(family.sizes)))  # a configuration writes into the mappings that it is given


def _sizes(kind: type, own: Mapping[str, Any]) -> dict[str, Any]:
    """Choose a configuration's sizes from `SMALL`, and those of configurations in it; `own` has the last word."""
    default = kind()
    known = {*dir(default), *kind.attribute_map}
    sizes = {name: size for name, size in SMALL.items() if name in known}
    for name in getattr(kind, "sub_configs", {}):
        if (part := getattr(default, name, None)) is not None:
            sizes[name] = {"model_type": part.model_type, **_sizes(type(part), own.get(name) or {})}
    sizes |= {name: size for name, size in own.items() if name not in getattr(kind, "sub_configs", {})}
    return {name: size for name, size in sizes.items() if size is not None}


def _class(name: str) -> Any:
    if name in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
        return AutoModelForSeq2SeqLM
    if name in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return AutoModelForMaskedLM
    return AutoModelForCausalLM if name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES else AutoModel


def reference(folder: Path, *, dtype: torch.dtype = torch.float32) -> Any:
    """The model as transformers runs it, with its eager attention: nothing of ours."""
    named = AutoConfig.from_pretrained(folder).architectures[0]
    return getattr(transformers, named).from_pretrained(folder, attn_implementation="eager", dtype=dtype).eval()
