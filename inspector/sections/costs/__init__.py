"""The page Costs: what a model's parts cost, of a loaded model and of any configuration without weights."""

from inspector.sections.costs import beside, card, heads, layers, memory, rules, shares, time
from inspector.sections.registry import Group, Sections
from inspector.wording import costs as words

PAGE = Sections(
    words.ASKS,
    (
        shares.SECTION,
        layers.LAYERS,
        heads.SECTION,
        Group("costs_memory", words.MEMORY_OF, (memory.SECTION, card.SECTION)),
        time.SECTION,
        Group("costs_further", words.FURTHER, (layers.WHOLE, beside.SECTION, rules.SECTION)),
    ),
    opening="opening",
    streams=lambda subject: (),
)
