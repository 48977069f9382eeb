"""The yardsticks: torch.nn's Transformer, transformers' BERT and GPT-2 of the same size, trained by the same script."""

from __future__ import annotations

import warnings
from math import sqrt

import torch
from torch import Tensor, nn

from models.transformer.config import TransformerConfig
from models.transformer.positions import sinusoidal
from models.transformer.subwords import END, SPECIAL, START


class TorchTranslator(nn.Module):
    """torch.nn.Transformer with shared embeddings, called like models.transformer.EncoderDecoder.

    torch has a single dropout, which also acts on attention weights and inside the FFN.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        with warnings.catch_warnings():
            # The warning says that torch's fast path for padding is off with pre-norm; nothing is lost.
            warnings.filterwarnings("ignore", "enable_nested_tensor is True", UserWarning)
            self.transformer = nn.Transformer(
                config.width,
                config.heads,
                num_encoder_layers=config.layers,
                num_decoder_layers=config.decoder_depth,
                dim_feedforward=config.ffn_width,
                dropout=config.dropout,
                activation=config.activation,
                batch_first=True,
                norm_first=config.norm_placement == "pre",
            )
        self.dropout = nn.Dropout(config.dropout)
        nn.init.normal_(self.embedding.weight, std=config.width**-0.5)
        self.register_buffer("positions", sinusoidal(config.max_positions, config.width).float(), persistent=False)

    def embed(self, ids: Tensor) -> Tensor:
        """Add scaled embeddings and positions: ids [B, T] -> [B, T, D]."""
        positions = self.get_buffer("positions")[: ids.shape[1]]
        embedded: Tensor = self.dropout(self.embedding(ids) * sqrt(self.embedding.embedding_dim) + positions)
        return embedded

    def forward(self, source: Tensor, target: Tensor, *, source_keep: Tensor) -> Tensor:
        """Compute the decoder's last hidden state: source [B, T] and target [B, Q] token ids -> [B, Q, D]."""
        memory = self.transformer.encoder(self.embed(source), src_key_padding_mask=~source_keep)
        return self.decode(target, memory, source_keep)

    def decode(self, target: Tensor, memory: Tensor, source_keep: Tensor) -> Tensor:
        """Run the decoder: target [B, Q], memory [B, T, D], source_keep [B, T] -> [B, Q, D]."""
        length = target.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=target.device).triu(diagonal=1)
        hidden: Tensor = self.transformer.decoder(
            self.embed(target), memory, tgt_mask=later, memory_key_padding_mask=~source_keep, tgt_is_causal=True
        )
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """Predict tokens with the shared embedding: hidden [..., D] -> [..., V]."""
        return nn.functional.linear(hidden, self.embedding.weight)


class TorchNextToken:
    """Next-token prediction without a cache: reads the whole text again for each token (compare `NextToken`)."""

    def __init__(self, network: TorchTranslator, source: Tensor, source_keep: Tensor) -> None:
        self.network, self.source_keep = network, source_keep
        self.memory = network.transformer.encoder(network.embed(source), src_key_padding_mask=~source_keep)

    def __call__(self, ids: Tensor, rows: Tensor | None = None) -> Tensor:
        """Predict the next token: ids [B, T] -> [B, V]; rows: for each text its row in the last call."""
        if rows is not None:
            self.memory, self.source_keep = self.memory[rows], self.source_keep[rows]
        return self.network.logits(self.network.decode(ids, self.memory, self.source_keep)[:, -1])


class BertMaskedLanguageModel(nn.Module):
    """transformers' BertForMaskedLM: post-norm, learned positions, BERT's head on the shared embedding."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        from transformers import (  # imported here: takes seconds, and only this class needs it
            BertConfig,
            BertForMaskedLM,
        )

        self.bert = BertForMaskedLM(
            BertConfig(
                vocab_size=config.vocabulary,
                hidden_size=config.width,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                intermediate_size=config.ffn_width,
                max_position_embeddings=config.max_positions,
                type_vocab_size=1,
                hidden_act=config.activation,
                hidden_dropout_prob=config.dropout,
                attention_probs_dropout_prob=config.attention_dropout,
            )
        )

    def forward(self, ids: Tensor, *, keep: Tensor) -> Tensor:
        """Compute the last hidden state: ids and keep [B, T] -> [B, T, D]."""
        hidden: Tensor = self.bert.bert(ids, attention_mask=keep.long()).last_hidden_state
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """Predict tokens: hidden [..., D] -> [..., V]."""
        scores: Tensor = self.bert.cls(hidden)
        return scores


class GptLanguageModel(nn.Module):
    """transformers' GPT2LMHeadModel: pre-norm, learned positions, a GELU FFN of 4 D, output tied to the embedding."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        from transformers import GPT2Config, GPT2LMHeadModel  # takes seconds, and only this class needs it

        self.gpt = GPT2LMHeadModel(
            GPT2Config(
                vocab_size=config.vocabulary,
                n_positions=config.max_positions,
                n_embd=config.width,
                n_layer=config.layers,
                n_head=config.heads,
                resid_pdrop=config.dropout,
                embd_pdrop=config.dropout,
                attn_pdrop=config.attention_dropout,
                bos_token_id=SPECIAL.index(START),
                eos_token_id=SPECIAL.index(END),
            )
        )

    def forward(self, ids: Tensor) -> Tensor:
        """Compute the last hidden state: ids [B, T] -> [B, T, D]."""
        hidden: Tensor = self.gpt.transformer(ids, use_cache=False).last_hidden_state
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """Predict tokens: hidden [..., D] -> [..., V]."""
        scores: Tensor = self.gpt.lm_head(hidden)
        return scores
