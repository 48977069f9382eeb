"""The pages by their groups: file, address, title, icon and purpose of each."""

from __future__ import annotations

from pathlib import Path

VIEWS = Path(__file__).parents[1]
# Group of pages -> file, address, title, icon and purpose of each page.
GROUPS = {
    "Read": (
        ("attention/page", "", "Attention", "grid_view", "See what every head of a Transformer looks at in your text."),
        ("compare/page", "compare", "Compare", "compare", "Set heads, texts and models side by side."),
        ("scores/page", "scores", "Scores", "score", "See what goes into the softmax, and what it makes of it."),
        ("what_if/page", "what_if", "What if", "alt_route", "Change the text or the model, and see what follows."),
    ),
    "Inside": (
        (
            "block/page",
            "block",
            "Block",
            "account_tree",
            "Follow a token through a layer, part by part.",
        ),
        ("layernorm/page", "layernorm", "LayerNorm", "equalizer", "See what each norm does to every token."),
        ("positions/page", "positions", "Positions", "waves", "See how the model knows the order of the tokens."),
        ("costs/page", "costs", "Costs", "calculate", "Count what attention costs, and what the FFN costs."),
    ),
    "Write": (
        ("generate/page", "generate", "Generate", "edit_note", "Watch a model write, token by token."),
        ("time/page", "time", "Time", "schedule", "See how far a gradient reaches, and what must wait for what."),
    ),
    "Learn": (
        (
            "questions/page",
            "questions",
            "Questions",
            "quiz",
            "See what people say of the Transformer settled on your text.",
        ),
        (
            "tokens/page",
            "tokens",
            "Tokens",
            "text_fields",
            "See how a text becomes tokens, and what BERT makes of them.",
        ),
        ("batch/page", "batch", "Batch", "view_list", "See what a batch shows each token, and what padding costs."),
        ("lab/page", "lab", "Lab", "science", "Train two tiny networks, and see what a switch changes."),
        ("training/page", "training", "Training", "timeline", "See how the shipped models learned."),
    ),
    "Corpus": (("atlas/page", "atlas", "Atlas", "map", "See what every head does over thousands of texts."),),
}
PURPOSES = {address: purpose for listed in GROUPS.values() for _, address, _, _, purpose in listed}
TITLES = {address: title for listed in GROUPS.values() for _, address, title, _, _ in listed}
FILES = {address: VIEWS / f"{file}.py" for listed in GROUPS.values() for file, address, _, _, _ in listed}
OWN_MODELS = ("lab", "training")  # pages that show models of their own, whatever the sidebar says
