"""The three Transformers: an encoder reads, a decoder continues, an encoder-decoder turns one text into another."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from models.attention import Stream
from models.attention.masks import CausalMask, Mask, PackedTextsMask, PaddingMask, WindowMask, all_of
from models.loaded import Shape
from models.transformer.blocks import DecoderBlock, EncoderBlock
from models.transformer.config import TransformerConfig
from models.transformer.embedding import Embedding, check_same_shape
from models.transformer.initialisation import initialise
from models.transformer.kv_cache import KVCache
from models.transformer.learned_attention import stack_positions
from models.transformer.norms import make_norm
from models.transformer.segment_memory import SegmentMemory


class Encoder(nn.Module):
    """Every token attends to every other, L times over (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        check_shape(config, "encoder", type(self))
        self.config = config
        self.causal = config.is_causal
        self.embedding = Embedding(config, vocabulary=config.vocabulary)
        self.position_bias = stack_positions(config, causal=self.causal)
        self.layers = layers(config, config.layers, stream="encoder")
        self.final_norm = make_norm(config.norm, config.width, config.norm_epsilon) if config.final_norm else None
        initialise(self, config)

    def tie(self) -> None:
        """Nothing: an encoder has one embedding and no output matrix."""

    def forward(
        self,
        ids: Tensor,
        *,
        keep: Tensor | None = None,
        segments: Tensor | None = None,
        texts: Tensor | None = None,
        restart: bool = True,
    ) -> Tensor:
        """The last hidden state.

        ids [B, T] token ids; keep [B, T] boolean, True on real tokens (None: all are); segments [B, T] (None: all 0);
        texts [B, T], the number of the text that each token of a packed row belongs to (None: a row is a text);
        restart: whether the positions of a table begin anew with each of them -> [B, T, D]. Rows of padding hold no
        meaning.

        Raises ValueError for ids or segments out of range, shapes that differ, texts longer than the positions.
        """
        counted = texts if restart else None
        x: Tensor = self.embedding(ids, segments=segments, texts=counted, keep=keep)  # [B, T, D]
        mask = self_attention_mask(self.config, ids, keep=keep, texts=texts, causal=self.causal)
        bias = None if self.position_bias is None else self.position_bias(offset=0)
        for layer in self.layers:
            x = layer(x, mask=mask, bias=bias, keep=keep)
        if self.final_norm is not None:
            x = self.final_norm(x, keep=keep)
        return x


class Decoder(nn.Module):
    """Each token attends to the tokens before it, and predicts the next (Radford et al. 2018); with a source it attends
    to the source too (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.reads_source = config.shape == "encoder-decoder"
        if not self.reads_source:
            check_shape(config, "decoder", type(self))
        self.embedding = Embedding(replace(config, segments=0), vocabulary=config.decoder_vocabulary)
        self.position_bias = stack_positions(config, causal=True)
        self.layers = layers(config, config.decoder_depth, stream="decoder", source=self.reads_source)
        self.final_norm = make_norm(config.norm, config.width, config.norm_epsilon) if config.final_norm else None
        self.head = nn.Linear(config.width, config.decoder_vocabulary, bias=False) if config.output_head else None
        initialise(self, config)
        self.tie()

    def tie(self) -> None:
        """Make the output matrix the embedding's, where the config says so; again after weights are put in place."""
        if self.head is not None and self.config.tied_embeddings != "none":
            self.head.weight = self.embedding.token.weight

    def forward(
        self,
        ids: Tensor,
        *,
        keep: Tensor | None = None,
        source: Tensor | None = None,
        source_keep: Tensor | None = None,
        cache: KVCache | None = None,
        memory: SegmentMemory | None = None,
        texts: Tensor | None = None,
        restart: bool = True,
    ) -> Tensor:
        """The last hidden state, from which `logits` makes predictions.

        ids [B, Q], what the decoder reads: in training the whole target, shifted (teacher forcing, `shift_right`);
        keep [B, Q] boolean, True on real tokens; source [B, T, D], the encoder's last hidden state, source_keep [B, T];
        cache: the tokens before `ids`, to which these are added; memory: what each layer read of earlier segments, of
        which ids are the next, see segment_memory.py: positions of a table begin anew; texts [B, Q] and restart as in
        Encoder, for a packed row -> [B, Q, D].

        Raises ValueError for ids out of range, shapes that differ, a source too many or too few.
        """
        self._check(ids, keep=keep, source=source, cache=cache)
        if memory is not None:
            self._check_memory(memory, alone=cache is None and keep is None and texts is None)
        start = 0 if cache is None else cache.length
        counted = texts if restart else None
        x: Tensor = self.embedding(ids, keep=keep, start=start, texts=counted)  # [B, Q, D]
        start = start if memory is None else memory.length
        mask = self_attention_mask(self.config, ids, keep=keep, causal=True, start=start, texts=texts)
        bias = None if self.position_bias is None else self.position_bias(offset=start)
        across = {} if source is None else {"source": source, "source_mask": source_mask(source_keep, source)}
        for index, layer in enumerate(self.layers):
            past = None if cache is None else cache.layers[index]
            layer_memory = None if memory is None else memory.layers[index]
            x = layer(x, mask=mask, bias=bias, keep=keep, past=past, memory=layer_memory, **across)
        if self.final_norm is not None:
            x = self.final_norm(x, keep=keep)
        return x

    def _check(self, ids: Tensor, *, keep: Tensor | None, source: Tensor | None, cache: KVCache | None) -> None:
        if self.reads_source != (source is not None):
            wants = "reads a source" if self.reads_source else "reads no source"
            raise ValueError(f"this decoder {wants}, and source is {'missing' if source is None else 'given'}")
        if source is not None and source.shape[::2] != (len(ids), self.config.width):
            raise ValueError(
                f"source has shape {tuple(source.shape)} for {len(ids)} texts of width {self.config.width}; pass one "
                "source [T, D] for each text"
            )
        if cache is not None and len(cache.layers) != len(self.layers):
            raise ValueError(f"the cache has {len(cache.layers)} layers, the decoder {len(self.layers)}; make it anew")
        if cache is not None and keep is not None:
            raise ValueError("a cache keeps real tokens alone: decode texts of equal length together, without `keep`")

    def _check_memory(self, memory: SegmentMemory, *, alone: bool) -> None:
        if len(memory.layers) != len(self.layers):
            raise ValueError(
                f"the memory has {len(memory.layers)} layers, the decoder {len(self.layers)}; make it anew"
            )
        if not alone:
            raise ValueError(
                "a memory over segments keeps real tokens of one text a row: read texts of equal length together, "
                "without `cache`, `keep` and `texts`"
            )

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores of every token of the vocabulary to come next: hidden [B, Q, D] -> [B, Q, V]."""
        if self.head is None:
            raise ValueError("this decoder has no output matrix (output_head=False), so it predicts nothing")
        scores: Tensor = self.head(hidden)
        return scores


class EncoderDecoder(nn.Module):
    """The decoder writes the target while it attends to the encoder's reading of the source (Vaswani et al. 2017)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        check_shape(config, "encoder-decoder", type(self))
        self.config = config
        self.encoder = Encoder(of_encoder(config))
        self.decoder = Decoder(config)
        self.tie()

    def tie(self) -> None:
        """Share the embeddings that the config shares; again after weights are put in place."""
        if self.config.tied_embeddings == "three-way":
            self.decoder.embedding.token = self.encoder.embedding.token
        self.decoder.tie()

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        *,
        source_keep: Tensor | None = None,
        target_keep: Tensor | None = None,
    ) -> Tensor:
        """The decoder's last hidden state, teacher-forced: source [B, T] and target [B, Q] token ids -> [B, Q, D].

        target is what the decoder reads (`shift_right`); source_keep and target_keep are True on real tokens.
        """
        memory = self.encoder(source, keep=source_keep)  # [B, T, D]
        hidden: Tensor = self.decoder(target, keep=target_keep, source=memory, source_keep=source_keep)
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """hidden [B, Q, D] -> [B, Q, V]."""
        return self.decoder.logits(hidden)


def build(config: TransformerConfig) -> Encoder | Decoder | EncoderDecoder:
    """The Transformer of the config's shape, with random weights."""
    match config.shape:
        case "encoder":
            return Encoder(config)
        case "decoder":
            return Decoder(config)
        case "encoder-decoder":
            return EncoderDecoder(config)


def shift_right(target: Tensor, *, start: int) -> Tensor:
    """Shift a target for teacher forcing: the decoder reads start + target[:-1], [B, Q] -> [B, Q].

    Every position is then trained at once, each on the true text before it.
    """
    return torch.cat([torch.full_like(target[:, :1], start), target[:, :-1]], dim=1)


# --- parts ---------------------------------------------------------------------------------------------------------


def of_encoder(config: TransformerConfig) -> TransformerConfig:
    """The encoder of an encoder-decoder, by itself."""
    return replace(
        config, shape="encoder", decoder_layers=None, target_vocabulary=None, tied_embeddings="none", causal=None
    )


def check_shape(config: TransformerConfig, shape: Shape, kind: type[nn.Module]) -> None:
    """Raise ValueError unless the config is of that shape."""
    if config.shape != shape:
        raise ValueError(f"{kind.__name__} of a config with shape {config.shape!r}; choose shape={shape!r}, or `build`")


def layers(config: TransformerConfig, count: int, *, stream: Stream, source: bool = False) -> nn.ModuleList:
    """L blocks, or one that stands in L places (ALBERT)."""

    def block() -> EncoderBlock:
        return DecoderBlock(config) if source else EncoderBlock(config, stream=stream)

    if config.shared_layers:
        return nn.ModuleList([block()] * count)
    return nn.ModuleList(block() for _ in range(count))


def self_attention_mask(
    config: TransformerConfig,
    ids: Tensor,
    *,
    keep: Tensor | None,
    causal: bool,
    texts: Tensor | None = None,
    start: int = 0,
) -> Mask | None:
    """All that hides a key from a query of the same text; None where every key is seen."""
    keys = start + ids.shape[1]
    if texts is not None:
        check_same_shape("texts", texts, ids)
    return all_of(
        None if keep is None else padding_mask(keep, ids),
        CausalMask(keys, start) if causal and ids.shape[1] > 1 else None,
        WindowMask(keys, config.window, start) if config.window is not None and config.window < keys else None,
        None if texts is None else PackedTextsMask(texts),
    )


def source_mask(keep: Tensor | None, source: Tensor) -> Mask | None:
    """keep [B, T] of the source [B, T, D] -> what hides its padding from the decoder."""
    return None if keep is None else padding_mask(keep, source[:, :, 0])


def padding_mask(keep: Tensor, ids: Tensor) -> PaddingMask | None:
    """keep [B, T] -> the mask that hides padding, None where there is none to hide."""
    check_same_shape("keep", keep, ids)
    mask = PaddingMask(keep)
    return None if keep.all() else mask
