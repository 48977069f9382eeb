"""Up to four models in one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from inspector import costs
from inspector.sections.costs import counts, shares
from inspector.sections.picks import Names
from inspector.sections.section import Block, Note, Section, Table
from inspector.sections.subject import Configuration
from inspector.wording import costs as words
from models import failures

if TYPE_CHECKING:
    from inspector.costs.counted.counting import CountedCosts
    from inspector.costs.kv_cache import CacheSizes
    from inspector.sections.subject import Subject

MOST = 3  # shapes beside the model that the page shows


def answer(subject: Subject, *, beside: Sequence[str]) -> Iterator[Block]:
    """Yield a table of the model and of known shapes at the text's length."""
    own = subject.configuration
    models = [own, *(Configuration.of_shape(name, tokens=own.tokens) for name in beside)]
    entries = [(one.title, counts.counted(subject, one), counts.cache(one)) for one in models]
    with failures.told(words.COMPARING, instead=words.OTHER_SHAPES):
        table = side_by_side(entries, tokens=own.tokens)
    yield Table("models", table, words.beside(own.tokens), words.BESIDE_HEADS, folded=False)
    yield Note(words.ABOUT_BESIDE)


def side_by_side(entries: Iterable[tuple[str, CountedCosts, CacheSizes | None]], *, tokens: int) -> pd.DataFrame:
    """Put models side by side at one length, a row each.

    entries: a title, a count, and the KV cache of a model that writes. Columns: model, parameters, flops (matrix
    products of one forward), attention (its share of the layers' products of all streams, 0 to 1), core, sublayer
    (crossovers of the first stream, in whole tokens), cache_bytes (a token, of 2-byte numbers); <NA> where a model has
    none.
    """
    rows = []
    for title, model, cache in entries:
        table = shares.merged(model.table(tokens=tokens))
        products = table[table["layer"].notna() & (table["kind"] == "matmul")].groupby("part")["flops"].sum()
        meets = None if model.formula is None else costs.crossings(model)
        both = int(products.get("attention", 0)) + int(products.get("ffn", 0))
        rows.append(
            {
                "model": title,
                "parameters": model.parameters,
                "flops": int(table["flops"].sum()),
                "attention": int(products.get("attention", 0)) / both if both else None,
                "core": None if meets is None else meets.core,
                "sublayer": None if meets is None else meets.sublayer,
                "cache_bytes": None if cache is None else cache.token_bytes(),
            }
        )
    found = pd.DataFrame(rows)
    lengths = found[["core", "sublayer"]].astype("Float64").round()
    return found.assign(**lengths, cache_bytes=found["cache_bytes"]).astype(
        dict.fromkeys(("core", "sublayer", "cache_bytes"), "Int64")
    )


BESIDE = Names(
    "beside",
    words.BESIDE_IT.format(MOST),
    lambda subject: {name: shape.title for name, shape in costs.SHELF.items()},
    default=("bert-base", "llama-2-7b"),
    most=MOST,
)
SECTION = Section("beside", words.BESIDE, answer, (BESIDE,), about="configuration", waits=words.COUNTING)
