"""The Latin words that Chinese text may have: names of models and people's methods, code, units and field terms."""

from __future__ import annotations

import re

MODELS = "BERT BLOOM ALBERT GPT MiniLM SmolLM2 mini Instruct all L6 v2 135M L12 Shaw T5 Reformer Transformer XL"
LIBRARIES = "PyTorch transformers Hugging Face Headlight Streamlit Python"
TERMS = (  # left in English by the notes of the courses too
    "token softmax sigmoid dropout FFN RoPE ALiBi MQA GQA KV LayerNorm RMSNorm BatchNorm ReLU GELU SiLU SwiGLU GeGLU "
    "tanh norm Glorot post pre"
)
SYMBOLS = "W_Q W_K W_V W_O d_k"
CODE = (
    "org name revision google-bert bert-base-cased inspector save trace path npz HTML true false "
    "HEADLIGHT_CACHE_MB HEADLIGHT_ROOT HEADLIGHT_HUB float32 bfloat16 CPU cuda kB MB GB"
)
EXAMPLES = "Italy Mary John cold hot big French English"  # words of the English examples, and the switch's own
CLOSED = frozenset(re.split(r"[\s-]+", " ".join((MODELS, LIBRARIES, TERMS, SYMBOLS, CODE, EXAMPLES))))


def english_words(text: str) -> list[str]:
    """List the Latin words of a text that are not on the list; names of icons and colours are no words."""
    text = re.sub(r":material/\w+:|:(\w+-badge|gray|primary|small|color)\[|\{foreground=[^}]*\}", " ", text)
    words = re.findall(r"[A-Za-z][A-Za-z0-9_]*", text)
    return [word for word in words if len(word) > 1 and word not in CLOSED]
