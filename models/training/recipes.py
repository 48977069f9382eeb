"""The recipes: for each of Headlight's own models a frozen record of its size and its training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from models.loaded import Shape
from models.transformer.config import Activation, Initialisation, TiedEmbeddings, TransformerConfig

Objective = Literal["translate", "mask", "write"]
Decay = Literal["noam", "cosine", "linear", "late"]

SHAPES: dict[Objective, Shape] = {"translate": "encoder-decoder", "mask": "encoder", "write": "decoder"}
TIED: dict[Objective, TiedEmbeddings] = {"translate": "three-way", "mask": "none", "write": "output"}
ACTIVATIONS: dict[Objective, Activation] = {"translate": "relu", "mask": "gelu", "write": "swiglu"}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Sizes as in TransformerConfig, and the choices of a training; every random choice follows from `seed`."""

    name: str
    objective: Objective
    vocabulary: int  # the tokenizer is trained to at most this size
    layers: int  # L; in an encoder-decoder the layers of each stack
    width: int  # D
    heads: int  # H
    ffn_width: int  # F
    kv_heads: int | None = None  # K; None for one for each head
    max_positions: int  # longer texts are cut or left out

    learning_rate: float  # the peak, at the end of the warm-up
    warmup: int  # steps
    decay: Decay
    epochs: int
    steps: int | None = None  # stop after this step even inside an epoch; None for all epochs
    repeat_steps: int = 0  # before the text, steps on short repeats of random tokens (`training.repeats`)
    batch_tokens: int = 2048  # rows times the longest row, on either side
    dropout: float = 0.1
    attention_dropout: float = 0.0
    label_smoothing: float = 0.0
    hidden_share: float = 0.15  # "mask": of the tokens, those to be guessed (Devlin et al. 2019, section 3.1)
    weight_decay: float = 0.01  # of matrices; biases, norms and embeddings do not decay
    clip: float = 1.0  # the gradient's largest L2 norm
    betas: tuple[float, float] = (0.9, 0.98)
    bf16: bool = False  # autocast: faster on processors that multiply bfloat16, with large matrices
    initialisation: Initialisation = "xavier"
    evaluations: int = 12  # how often the valid split is read, evenly spaced
    rows: int = 200  # rows of metrics.csv, evenly spaced
    seed: int = 0

    def config(self, *, vocabulary: int) -> TransformerConfig:
        """Configure the network: pre-norm (Xiong et al. 2020), which needs no long warm-up, with shared embeddings."""
        translates, writes = self.objective == "translate", self.objective == "write"
        return TransformerConfig(
            shape=SHAPES[self.objective],
            vocabulary=vocabulary,
            layers=self.layers,
            width=self.width,
            heads=self.heads,
            ffn_width=self.ffn_width,
            kv_heads=self.kv_heads,
            max_positions=self.max_positions,
            # Learned positions would learn slowly: at first no head finds its neighbours.
            positions="sinusoidal" if translates else "rope",
            # Beside sublayers' outputs of variance 1, embeddings of 1/sqrt(D) would drown in a decoder's sum.
            embedding_scale=translates or writes,
            tied_embeddings=TIED[self.objective],
            norm_placement="pre",
            final_norm=True,
            norm="rms" if writes else "layer",
            activation=ACTIVATIONS[self.objective],
            bias=not writes,  # Touvron et al. 2023
            dropout=self.dropout,
            attention_dropout=self.attention_dropout,
            initialisation=self.initialisation,
        )


TRANSLATOR = Recipe(
    name="translator",
    objective="translate",
    vocabulary=6000,
    layers=3,
    width=192,
    heads=6,
    ffn_width=768,
    max_positions=128,
    learning_rate=2e-3,
    warmup=150,
    decay="linear",
    epochs=24,
    dropout=0.2,
    attention_dropout=0.2,
    label_smoothing=0.1,
    bf16=True,
    evaluations=24,
)
MINI_BERT = Recipe(
    name="mini-bert",
    objective="mask",
    vocabulary=8000,
    layers=4,
    width=192,
    heads=6,
    ffn_width=768,
    max_positions=128,
    learning_rate=1e-3,
    warmup=300,
    decay="linear",
    epochs=1,
    steps=6000,
    dropout=0.0,
    bf16=True,
    initialisation="normal",
)
MINI_BERT_ZH = Recipe(
    name="mini-bert-zh",
    objective="mask",
    vocabulary=6500,  # about 6,000 are there: a token a character
    layers=4,
    width=192,
    heads=6,
    ffn_width=768,
    max_positions=128,
    learning_rate=1.5e-3,
    warmup=500,
    decay="late",
    epochs=20,
    steps=100_000,
    batch_tokens=1024,
    dropout=0.0,
    hidden_share=0.25,  # more to learn from a step than with 15 % (Wettig et al. 2023)
    bf16=True,
    evaluations=50,
    rows=500,
)
MINI_GPT = Recipe(
    name="mini-gpt",
    objective="write",
    vocabulary=4096,
    layers=4,
    width=192,
    heads=6,
    ffn_width=512,
    kv_heads=2,
    max_positions=256,
    learning_rate=2e-3,
    warmup=200,
    decay="late",
    epochs=20,
    steps=24_000,
    repeat_steps=2_400,
    batch_tokens=1024,
    dropout=0.0,
    bf16=True,
    evaluations=24,
    rows=240,
)
TOY = Recipe(
    name="toy",
    objective="translate",
    vocabulary=300,
    layers=2,
    width=64,
    heads=4,
    ffn_width=128,
    max_positions=64,
    learning_rate=3e-3,
    warmup=50,
    decay="cosine",
    epochs=10,
    batch_tokens=1024,
    dropout=0.0,
    evaluations=10,
)
RECIPES = {recipe.name: recipe for recipe in (TRANSLATOR, MINI_BERT, MINI_BERT_ZH, MINI_GPT, TOY)}
