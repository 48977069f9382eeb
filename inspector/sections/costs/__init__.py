"""The page Costs: what a model's parts cost, of a loaded model and of any configuration without weights."""

from inspector.sections.costs import beside, card, heads, layers, memory, rules, shares, time
from inspector.sections.registry import Sections
from inspector.wording import costs as words

PAGE = Sections(
    words.ASKS,
    (
        shares.SECTION,
        layers.LAYERS,
        layers.WHOLE,
        memory.SECTION,
        card.SECTION,
        heads.SECTION,
        beside.SECTION,
        time.SECTION,
        rules.SECTION,
    ),
    opening="opening",
    streams=lambda subject: (),
)
