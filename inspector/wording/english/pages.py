"""Names and purposes of the pages and of the menu's groups."""

from __future__ import annotations

GROUPS = {
    "read": "Attention",
    "inside": "Inside the model",
    "write": "Writing",
    "learn": "Learning",
    "corpus": "Many texts",
}
TITLES = {
    "": "Attention",
    "compare": "Compare",
    "scores": "Scores",
    "what_if": "What if",
    "block": "Block",
    "layernorm": "Norms",
    "positions": "Positions",
    "costs": "Costs",
    "generate": "Generate",
    "time": "Time",
    "questions": "Questions",
    "practice": "Practice",
    "lessons": "Lessons",
    "tokens": "Tokens",
    "batch": "Batch",
    "lab": "Lab",
    "training": "Training",
    "atlas": "Atlas",
}
"""The name of each page by its address."""
PURPOSES = {
    "": "See what every head of a Transformer looks at in your text.",
    "compare": "Set heads, texts and models side by side.",
    "scores": "See what goes into the softmax, and what it makes of it.",
    "what_if": "Change the text or the model, and see what follows.",
    "block": "Follow a token through a layer, part by part.",
    "layernorm": "See what layer normalisation does to every token.",
    "positions": "See how the model knows the order of the tokens.",
    "costs": "Count what attention costs, and what the FFN costs.",
    "generate": "Watch a model write, token by token.",
    "time": "See how far a gradient reaches, and what must wait for what.",
    "questions": "See what people say of the Transformer, and whether it holds on your text.",
    "practice": "Write a part of a Transformer yourself, and hold it to the real layer.",
    "lessons": "Follow a lesson step by step, and hand in what you found.",
    "tokens": "See how a text becomes tokens, and what follows.",
    "batch": "See what a batch shows each token, and what padding costs.",
    "lab": "Train two tiny networks, and see what a switch changes.",
    "training": "See how the shipped models learned.",
    "atlas": "See what every head does over many texts.",
}
LOADING = "Headlight is loading."
ALL_PAGES = "All pages"
NO_SUCH_PAGE = "There is no page at this address. You see Attention, the first page, instead."
ALL_NUMBERS = "All numbers"
STEP = "Step {} of {}: **{}**"
BACK, NEXT = "Back", "Next"
WHY_NOT = "Why not: {}."
ONLY_GIVEN = (
    "Only attention weights were given, without their model, and this section runs it or reads its weights. Record the "
    "text in its model to see it."
)
NOT_AT_HAND = "The model {} of this saved trace is not at hand, and this section runs it or reads its weights."
NO_SIDE_B = "Side B is not shown: {}."
PYTHON = "Python"
