"""Numbers that papers and model cards print, each with the convention that gives it.

The same model has several published "FLOPs": some papers count a multiply-add as one operation, some leave embeddings
out, some count them as dense products. Headlight counts 2 FLOPs a multiply-add, and an embedding is looked up for none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inspector.costs.derived import PREFIXES, breakdown
from inspector.costs.kv_cache import kv_cache
from inspector.costs.shelf import SHELF, Shape


@dataclass(frozen=True)
class PublishedNumber:
    """A published number.

    what: the number. printed: as it is printed. value: what Headlight counts under that convention. unit: of the value.
    convention: what is counted, and how.
    """

    what: str
    printed: str
    value: int
    unit: str
    convention: str


def published() -> tuple[PublishedNumber, ...]:
    """Count each number again, by the formulas and from the shapes of the shelf."""
    bert = SHELF["bert-base"].config()
    table = breakdown(bert, tokens=128)
    layers = table[table["layer"].notna()]
    products = int(layers["flops"][layers["kind"] == "matmul"].sum())
    whole = int(layers["flops"].sum())
    n, d = 128, bert.hidden_size
    one_hot, head = 2 * n * d * bert.vocab_size, 2 * n * d * d
    vit = vit_flops()
    caches = {name: kv_cache(SHELF[name].config()).token_bytes() for name in _CACHES}
    return (
        PublishedNumber(
            "BERT base, 128 tokens: products", "22.35 G", products, "FLOP", "matrix products of the 12 layers"
        ),
        PublishedNumber(
            "BERT base in the TinyBERT and MobileBERT papers",
            "22.5 B",
            whole,
            "FLOP",
            "128 tokens, the 12 layers with element-wise work, no embeddings, no pooler",
        ),
        PublishedNumber(
            "BERT base in the ELECTRA paper",
            "2.9e10",
            whole + one_hot + head,
            "FLOP",
            "128 tokens, the embedding counted as a dense product with one-hot vectors, and a dense head on each token",
        ),
        PublishedNumber(
            "ViT-B/16, 224 x 224 pixels",
            "17.6 G",
            vit // 2,
            "multiply-adds",
            f"a multiply-add counted as 1; as 2 FLOPs it is {vit / 1e9:.1f} GFLOP (by the formula alone)",
        ),
        *(
            PublishedNumber(f"KV cache of {SHELF[name].title}", f"{size:,} B", size, "B a token", _CACHES[name])
            for name, size in caches.items()
        ),
        *(
            PublishedNumber(
                f"Parameters of {shape.title}", f"{shape.parameters:,}", size, "", shape.note or shape.source
            )
            for shape, size in _parameters()
        ),
    )


_CACHES = {
    "llama-2-7b": "2 bytes a number, 32 layers, 32 heads of 128 for keys and for values",
    "llama-3-8b": "2 bytes a number, 32 layers, 8 heads of 128 (GQA)",
    "llama-2-70b": "2 bytes a number, 80 layers, 8 heads of 128 (GQA)",
    "deepseek-v3": "2 bytes a number, 61 layers, 512 + 64 numbers (MLA)",
}


def _parameters() -> Iterator[tuple[Shape, int]]:
    """Count the parameters of each shape that has closed formulas."""
    for shape in SHELF.values():
        if shape.kind in PREFIXES:
            yield shape, int(breakdown(shape.config(), tokens=1)["parameters"].sum())


def vit_flops(*, side: int = 224, patch: int = 16, width: int = 768, layers: int = 12, classes: int = 1000) -> int:
    """Count a Vision Transformer's matrix products (Dosovitskiy et al. 2021): f = 4d, and a class token.

    (side / patch)² patches of 3 patch² numbers are projected to d; each of L layers costs 24 n d² + 4 n² d for the
    n = patches + 1 tokens; the class token is classified.
    """
    patches = (side // patch) ** 2
    n = patches + 1
    return 2 * patches * 3 * patch**2 * width + layers * (24 * n * width**2 + 4 * n**2 * width) + 2 * width * classes
