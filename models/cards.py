"""The cards of the models that come with Headlight: the texts that a reader sees before choosing a model."""

from __future__ import annotations

from models.formatting import format_bytes
from models.loaded import Card, Shape

_SMOLLM2_PARAMETERS = 134_515_008
_SMOLLM2_MEMORY = format_bytes(4 * _SMOLLM2_PARAMETERS)

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
SMOLLM2 = Card(
    id="smollm2",
    title="SmolLM2, which writes",
    summary="A real language model by Hugging Face (SmolLM2-135M-Instruct: 30 layers, 9 heads that share 3 kv heads, "
    f"width 576), run by transformers; it takes {_SMOLLM2_MEMORY} of memory. Its weights have four bits, so every "
    "number is that of the quantised model. It writes good English and knows common facts; it counts and reasons badly "
    "and states what is false as fluently as what is true.",
    licence="Apache-2.0",
    shape="decoder",
    parameters=_SMOLLM2_PARAMETERS,
)
SMOLLM2_OWN = Card(
    id="smollm2-own",
    title="SmolLM2 in the own Transformer",
    summary="The same weights in this project's own Transformer: same text, same attention, same continuation. It "
    f"takes {_SMOLLM2_MEMORY} of memory, and as much again while it is loaded.",
    licence="Apache-2.0",
    shape="decoder",
    parameters=_SMOLLM2_PARAMETERS,
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
WRITERS = (SMOLLM2.id, MINI_GPT.id, TRANSLATOR.id)
"""The trained models that write, the best first; the first is not everywhere (see `registry.is_installed`)."""


def catalogue() -> tuple[Card, ...]:
    """List the models that come with Headlight, the page's default first."""
    own = (MINILM_OWN, SMOLLM2_OWN, *UNTRAINED.values())
    return (MINILM, SMOLLM2, MINI_BERT, MINI_BERT_ZH, MINI_GPT, TRANSLATOR, *own)


def names() -> tuple[str, ...]:
    """List what `models.load` takes beside folders and names on the hub: the ids of the catalogue."""
    return tuple(card.id for card in catalogue())
