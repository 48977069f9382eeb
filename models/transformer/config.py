"""The configuration of a Transformer, in one frozen record.

The axis letters, here and in every shape of the project: B batch, H heads, K kv heads, Q query positions,
T key positions, D width, E head width, F FFN width, L layers, V vocabulary.
In an encoder every token is query and key alike, so its length is T throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

from models.loaded import Shape
from models.transformer.config_checks import check

NormPlacement = Literal["pre", "post"]
Norm = Literal["layer", "rms", "batch", "masked_batch", "none"]
Activation = Literal["relu", "gelu", "gelu_tanh", "swiglu", "geglu_tanh"]
Positions = Literal["sinusoidal", "learned", "none", "t5", "shaw", "xl", "rope", "alibi"]
Score = Literal["dot", "general", "cosine", "additive", "additive_naive"]
Scale = Literal["1/sqrt(d_k)", "1/d_k", "none"]
Weighting = Literal["softmax", "sigmoid", "linear"]
Merge = Literal["concat", "sum"]
TiedEmbeddings = Literal["none", "output", "three-way"]
Initialisation = Literal["torch", "normal", "xavier"]


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """The sizes, which have no default, and the choices, which default to Vaswani et al. (2017).

    Raises ValueError where the numbers do not fit each other or a choice is unknown.
    """

    vocabulary: int  # V, of the source where there are two texts
    layers: int  # L, of the encoder where there are two stacks
    width: int  # D
    heads: int  # H
    ffn_width: int  # F
    max_positions: int  # the longest text, in tokens; a limit only where positions are rows of a table

    # What it is for: an encoder reads, a decoder continues, the two together turn one text into another.
    shape: Shape = "encoder"
    decoder_layers: int | None = None  # of an encoder-decoder; None for as many as the encoder has
    target_vocabulary: int | None = None  # V of the decoder's side; None where both sides share one tokenizer
    shared_layers: bool = False  # one layer, run L times: L times fewer parameters, the same work (ALBERT)
    tied_embeddings: TiedEmbeddings = "none"  # the output matrix is the embedding (Press & Wolf 2017), or all three
    output_head: bool = True  # a decoder predicts tokens; False for a bare decoder (an encoder never has one)
    residual: bool = True  # x + f(x); False shows why: rank and gradients collapse with depth (Dong et al. 2021)

    # The embedding.
    segments: int = 0  # how many texts a token can belong to (BERT: 2); 0 for no segment embeddings
    embedding_width: int | None = None  # narrower embeddings, projected up to D (ALBERT); None for D itself
    embedding_scale: bool = False  # times sqrt(D), so that the token outweighs its position (Vaswani et al. 3.4)
    embedding_norm: bool = False  # a norm between embeddings and first layer, as in BERT and BLOOM
    positions: Positions = "sinusoidal"  # added to the embedding, to the scores, or turned into queries and keys
    relative_buckets: int = 32  # T5: how many distances are told apart
    relative_distance: int = 128  # T5, Shaw: from here on all distances are one
    rope_base: float = 10000.0  # RoPE: wavelength of the slowest pair of features, over 2 pi

    # Attention.
    kv_heads: int | None = None  # K: 1 is MQA, between 1 and H is GQA; None for one for each head
    head_size: int | Literal["split", "full"] = "split"  # E: D / H, or D in every head, or any number (T5)
    merge: Merge = "concat"  # heads side by side through W_O, or added up (which forgets which head spoke)
    projections: bool = True  # False: queries, keys and values are the text itself, softmax(x x^T) x
    shared_query_key: bool = False  # W_Q = W_K: symmetric scores, so each token sees itself most (Reformer)
    shared_key_value: bool = False  # K = V: what is matched is what is delivered
    score: Score = "dot"  # how alike a query and a key are
    scale: Scale = "1/sqrt(d_k)"  # keeps the scores' variance near 1 whatever the head width
    weighting: Weighting = "softmax"  # how scores become weights; "linear" has a score of its own, without a scale
    causal: bool | None = None  # no token sees a later one; None for what the shape asks for
    window: int | None = None  # a query sees only keys less than this many tokens away (Longformer, Mistral)
    mask_fill: float | Literal["zero"] = -inf  # score of a masked key; finite numbers and zeroed scores leak
    mask_before_scale: bool = False  # mask, then scale: the same for -inf, a weaker mask for a finite fill

    # Each sublayer.
    norm: Norm = "layer"
    norm_placement: NormPlacement = "post"  # norm(x + f(x)), or x + f(norm(x)) for "pre"
    final_norm: bool = False  # one more norm after the last layer; goes with pre-norm
    norm_epsilon: float = 1e-5
    activation: Activation = "relu"  # the last two are gated: three matrices instead of two
    bias: bool = True  # b in every x W + b; a norm's beta is always there

    # Training.
    dropout: float = 0.0  # on embeddings and sublayer outputs (Vaswani et al. 5.4); off in eval mode
    attention_dropout: float = 0.0  # on attention weights; off in eval mode
    initialisation: Initialisation = "torch"  # nn.Linear's own, N(0, 0.02) as in BERT, or Glorot as in nn.Transformer

    def __post_init__(self) -> None:
        check(self)

    @property
    def head_width(self) -> int:
        """E = D / H, unless head_size names another width."""
        if isinstance(self.head_size, int):
            return self.head_size
        return self.width if self.head_size == "full" else self.width // self.heads

    @property
    def key_heads(self) -> int:
        """K."""
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def scale_factor(self) -> float:
        """The factor by which scores are multiplied."""
        powers = {"1/sqrt(d_k)": -0.5, "1/d_k": -1.0, "none": 0.0}
        return float(self.head_width ** powers[self.scale])

    @property
    def is_causal(self) -> bool:
        """True if self-attention hides later tokens; in an encoder-decoder this is the decoder's self-attention."""
        return self.shape != "encoder" if self.causal is None else self.causal

    @property
    def gated(self) -> bool:
        """True if the FFN has a gate: three matrices instead of two."""
        return self.activation in ("swiglu", "geglu_tanh")

    @property
    def decoder_depth(self) -> int:
        """L of the decoder."""
        return self.layers if self.decoder_layers is None else self.decoder_layers

    @property
    def attention_count(self) -> int:
        """Attention layers of one forward: a decoder that reads a source has two in each layer."""
        return self.layers + (2 * self.decoder_depth if self.shape == "encoder-decoder" else 0)

    @property
    def decoder_vocabulary(self) -> int:
        """V of the decoder."""
        return self.vocabulary if self.target_vocabulary is None else self.target_vocabulary
