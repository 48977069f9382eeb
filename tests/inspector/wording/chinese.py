"""The Latin words that Chinese text may have: names of models and people's methods, code, units and field terms."""

from __future__ import annotations

import re
from collections.abc import Set

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
ARGUMENTS = (  # of the functions of Practice, and what they return
    "query key value keys values scores log_probs weight bias eps heads words positions position width ffn beta "
    "w_query w_key"
)
OF_FUNCTIONS = (  # and in their formulas
    "torch numpy np nn Linear out in dot matmul reshape view arange keepdims argmax cumsum std var correction return "
    "None mine py UTF exp sin cos inf NaN e9 L2 rotate_half head_h head_0 head_1 q_h k_h v_h q_i k_j q_t k_t v_t o_t "
    "v_a W_q W_k S_ S_t count score total abc aa xa BPE WordPiece PE FLOP delta Llama gpt"
)
AUTHORS = "Vaswani Ba Su Bahdanau Sennrich Schlag Yang"
EXAMPLES = "Italy Mary John cold hot big French English"  # words of the English examples, and the switch's own
CLOSED = frozenset(re.split(r"[\s-]+", " ".join((MODELS, LIBRARIES, TERMS, SYMBOLS, CODE, EXAMPLES))))
OF_PRACTICE = frozenset(" ".join((ARGUMENTS, OF_FUNCTIONS, AUTHORS)).split())
"""Words that the page Practice and its command may have beside them: code that the reader writes."""
PAPERS = (
    "Ainslie Bhojanapalli Britz Cho Clark Dettmers Devlin Garg Gurevych He Jensen Kendall Kobayashi Kovaleva Liu "
    "Olsson Pham Puccetti Reimers Santurkar Shannon Shen Sinha Spearman Wettig Xavier Xiao Xiong Zhang"
)
NAMED = (  # models, data and programs that questions speak of
    "Adam AI AWQ Base BigBird BLEU CKA CoNLL DeepSeek DIN DistilBERT FlashAttention GLUE GPTQ IWSLT14 jieba Longformer "
    "M2M100 Marian minilm MNLI OpenSubtitles PowerNorm SCOWL SST translator Unigram V3 WMT WMT14"
)
SHORT = "CLS CNN FC FLOPs GPU GRU JS KB LN LoRA LSTM MASK MLA NLG NLU OOV OV PCA Post Pre QK QQ RNN SEP Seq2Seq SGD"
LETTERS = "A_h A_ij A_ji d_v W_E W_U W_hh head_i p_i p_j q_j s_j x_i x_j k_j ij ln log nd Px pos"
LEFT_IN_ENGLISH = (  # and what a library calls it
    "absmax AdditiveAttention autograd Batch BatchNorm1d concat Dropout float16 float64 general int4 int8 logit logits "
    "Masked nat padding rollout surprisal transpose"
)
OF_QUESTIONS = OF_PRACTICE | frozenset(" ".join((PAPERS, NAMED, SHORT, LETTERS, LEFT_IN_ENGLISH)).split())
"""Words that what Questions say may have beside them."""
PHRASES = (  # quoted, or beside their Chinese word
    "attention sink|Attention Transformer|chunked prefill|identical layers|logit lens|no-op|one-hot|position-wise|"
    "Switch Transformer|target-attention|tanh-RNN|teacher forcing|[Tt]op-[pk]|tuned lens|Universal Transformer|warm-up|"
    "we suspect"
)


def english_words(text: str, also: Set[str] = frozenset()) -> list[str]:
    """List the Latin words of a text that are not on the list; names of icons and colours are no words.

    also: words that may stand there beside those of the list.
    """
    text = re.sub(r":material/\w+:|:(\w+-badge|gray|primary|small|color)\[|\{foreground=[^}]*\}", " ", text)
    words = re.findall(r"[A-Za-z][A-Za-z0-9_]*", text)
    return [word for word in words if len(word) > 1 and word not in CLOSED | also]
