"""The cards of the models that come with Headlight: the texts that a reader sees before choosing a model."""

from __future__ import annotations

from models.loaded import Card, Shape

MINILM = Card(
    id="minilm",
    title="MiniLM, the bundled BERT",
    summary="A real pretrained BERT encoder (all-MiniLM-L6-v2: 6 layers, 12 heads, width 384), run by transformers.",
    licence="Apache-2.0",
)
MINILM_OWN = Card(
    id="minilm-own",
    title="MiniLM in the own Transformer",
    summary="The same weights in this project's own Transformer: same text, same hidden states, same attention.",
    licence="Apache-2.0",
)
TRANSLATOR = Card(
    id="translator",
    title="Translator, English to Chinese",
    summary="The own encoder-decoder (3 + 3 layers, 6 heads, width 192), trained here on 25,669 short sentences: shows "
    "all three streams of attention.",
    licence="MIT; trained on sentences of tatoeba.org, CC-BY 2.0 FR, see its CARD.md",
    shape="encoder-decoder",
)
MINI_BERT = Card(
    id="mini-bert",
    title="mini-BERT, trained here",
    summary="The own encoder (4 layers, 6 heads, width 192, rotary positions), trained here as a masked language model "
    "on public-domain novels and English sentences: it guesses hidden words.",
    licence="MIT; trained on public-domain novels and sentences of tatoeba.org, CC-BY 2.0 FR, see its CARD.md",
)
MINI_BERT_ZH = Card(
    id="mini-bert-zh",
    title="mini-BERT for Chinese",
    summary="The own encoder (4 layers, 6 heads, width 192, rotary positions), trained here as a masked language model "
    "on Chinese characters, of classic novels and short modern sentences: it guesses hidden characters.",
    licence="MIT; trained on public-domain novels and sentences of tatoeba.org, CC-BY 2.0 FR, see its CARD.md",
)
MINI_GPT = Card(
    id="mini-gpt",
    title="mini-GPT, trained here",
    summary="The own decoder (4 layers, 6 heads that share 2 kv heads, width 192, rotary positions, RMSNorm, SwiGLU), "
    "trained here on public-domain novels and English sentences: it writes on, and has induction heads.",
    licence="MIT; trained on public-domain novels and sentences of tatoeba.org, CC-BY 2.0 FR, see its CARD.md",
    shape="decoder",
)
UNTRAINED: dict[Shape, Card] = {
    "encoder": Card(
        id="own-encoder",
        title="Untrained encoder",
        summary="This project's own Transformer encoder (2 layers, 4 heads, width 64) with random weights: untrained.",
        licence="MIT",
        shape="encoder",
        trained=False,
    ),
    "decoder": Card(
        id="own-decoder",
        title="Untrained decoder",
        summary="The own decoder, as in GPT (2 layers, 4 heads, width 64), causal, with random weights: untrained.",
        licence="MIT",
        shape="decoder",
        trained=False,
    ),
    "encoder-decoder": Card(
        id="own-encoder-decoder",
        title="Untrained encoder-decoder",
        summary="The own encoder-decoder (2 + 2 layers, 4 heads, width 64) with random weights: untrained, it writes "
        "nonsense and shows all three streams of attention.",
        licence="MIT",
        shape="encoder-decoder",
        trained=False,
    ),
}


def catalogue() -> tuple[Card, ...]:
    """List the models that come with Headlight, the page's default first."""
    return (MINILM, MINI_BERT, MINI_BERT_ZH, MINI_GPT, TRANSLATOR, MINILM_OWN, *UNTRAINED.values())
