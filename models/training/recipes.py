"""The recipes: for each of Headlight's own models a frozen record of its size and its training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from models.transformer.config import TransformerConfig

Objective = Literal["translate", "mask"]
Decay = Literal["noam", "cosine", "linear"]


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
    max_positions: int  # longer texts are cut or left out

    learning_rate: float  # the peak, at the end of the warm-up
    warmup: int  # steps
    decay: Decay
    epochs: int
    steps: int | None = None  # stop after this step even inside an epoch; None for all epochs
    batch_tokens: int = 2048  # rows times the longest row, on either side
    dropout: float = 0.1
    attention_dropout: float = 0.0
    label_smoothing: float = 0.0
    weight_decay: float = 0.01  # of matrices; biases, norms and embeddings do not decay
    clip: float = 1.0  # the gradient's largest L2 norm
    betas: tuple[float, float] = (0.9, 0.98)
    bf16: bool = False  # autocast: faster on processors that multiply bfloat16, with large matrices
    evaluations: int = 12  # how often the valid split is read, evenly spaced
    rows: int = 200  # rows of metrics.csv, evenly spaced
    seed: int = 0

    def config(self, *, vocabulary: int) -> TransformerConfig:
        """Configure the network: pre-norm (Xiong et al. 2020), which needs no long warm-up, with shared embeddings."""
        translates = self.objective == "translate"
        return TransformerConfig(
            shape="encoder-decoder" if translates else "encoder",
            vocabulary=vocabulary,
            layers=self.layers,
            width=self.width,
            heads=self.heads,
            ffn_width=self.ffn_width,
            max_positions=self.max_positions,
            # Learned positions would learn slowly: at first no head finds its neighbours.
            positions="sinusoidal" if translates else "rope",
            embedding_scale=translates,
            tied_embeddings="three-way" if translates else "none",
            norm_placement="pre",
            final_norm=True,
            activation="relu" if translates else "gelu",
            dropout=self.dropout,
            attention_dropout=self.attention_dropout,
            initialisation="xavier" if translates else "normal",
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
RECIPES = {recipe.name: recipe for recipe in (TRANSLATOR, MINI_BERT, TOY)}
