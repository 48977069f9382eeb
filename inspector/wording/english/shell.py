"""Words of the frame around every page: the choice of a model, a stand-in, what was stopped, and what figures tell."""

from __future__ import annotations

from models.formatting import format_bytes

HUB_NAME, HUB_NAME_OR_FOLDER = "org/name or org/name@revision", "org/name, or a folder"
KNOWN_LATER = "How its attention is seen is known once it is loaded."
MODEL = "Model"
NOT_AT_HAND = "The model of this saved trace is not at hand"
GIVEN_FORMULA = "$A$ as it was given"
READS_NO_OTHER = "no other text can be read; leave the text of this panel empty, or choose another model"
RECORD_TO_SEE = "Record the text in its model to see it."
ON_YOUR_TEXT = " on your text"
ENGLISH_EXAMPLE = ", on its own example: it has learned English, and your text is kept"
OWN_EXAMPLE = ", on its own example"
REMOVE_FIRST = "Remove the saved trace in the sidebar first."
FOR_ALL = "For all pages; your text stays."
EXAMPLE = "This is an example, and another model comes with its own. A text of yours stays."
LIMITS_OF_EXAMPLES = {
    "Facts": "It goes on with Italy. What is rarely written about, it makes up just as fluently.",
    "Who gets it?": "It goes on with Mary. On What if, swap the second John for Mary: now it is John. It follows "
    "names, and loses them in longer stories.",
    "An opposite": "It goes on with cold. Asked as a riddle, such as hot is to cold as big is to, it fails.",
    "A language": "It goes on with French. Other countries go as well, though less surely.",
    "A line of code": "It goes on with a + b. Longer programs go wrong, and it runs nothing.",
    "A dialogue": "The template that it was trained on. It answers what is well known, and reasons badly.",
}
"""Limits of a model, by the names of the examples that are for it."""
READING = "Reading the text"
LOADING = "Loading the model"
NOTHING_TO_READ = "The text is empty. Type or paste a sentence, or take this one:"
READING_FIRST = "Reading the text with the model (the first time it loads torch, which takes a few seconds)"
TEXT_IS_KEPT = "It is kept: change it, or choose another model."
STOPPED = "Stopped"
KEPT = "Your text and the finished part are kept; press Inspect to continue."
WITHOUT_PAGE = "The same numbers without the page:"
HIDE_HELP = "The weights of a row then sum to what is left."
OWN_SCALE_HELP = "Without it all maps share one colour scale."
LINEAR_HELP = "Lets small weights fade; the numbers stay the same."
ROOT_HELP = "Makes small weights visible; the numbers stay the same."
UNTRAINED, UNTRAINED_HELP = "Untrained", "Random weights: the maps mean nothing."
LOOKS_UNTRAINED = "Looks untrained"
HEADS_BY_CHANCE = "Every head spreads its attention on this text as random weights would."
NORMS_AS_DRAWN = (
    "Each of its norms has one gain for all dimensions and a bias of 0, to the last bit: random weights begin so, and "
    "training moves them. (A model whose gains were multiplied into its other weights looks so too.)"
)
TABLE_AS_CSV = "Table as CSV"
ROWS_OF_A_DECODER = "A row is named by the token read and the token predicted (→)."
KEYS_OF_THE_SOURCE = "Keys and values are the source text."
SINK_COLUMN = "The last column, (sink), has that part: with it each whole row sums to 1."
ROWS_SUM_TO_ONE = "Each row sums to 1."
MERGED = "To a word: the sum over its pieces; from a word: the mean (Clark et al. 2019, 4.1)."

BACKENDS = {
    "own": "The model is this project's own Transformer, whose attention hands over its queries, keys and values.",
    "probe": "The library transformers runs the model, and hands over the queries, keys and values of each attention.",
    "eager output": "The library transformers runs the model; what goes into its attention's softmax is written down, "
    "and maps are computed again from it.",
}
KEEPS_MAPS = (
    "The library transformers runs the model; what its attention's softmax gives is written down, which takes memory "
    "as the square of the text."
)


def looking(*, hub: bool, hub_variable: str, no_folders: bool, root_variable: str) -> str:
    """Say what Look reads, and what is off here; hub_variable, root_variable: the variables that switch it on."""
    return (
        "Looking reads its configuration, and no weights. "
        + ("" if hub else f"The hub is off here ({hub_variable}). ")
        + (f"Local folders are off here ({root_variable}). " if no_folders else "")
    )


def candidate(*, name: str, commit: str | None) -> str:
    """Name a model that was found, with the commit."""
    return f"{name}{'' if commit is None else f', commit {commit[:10]}'}"


def name_help(*, folders: str) -> str:
    """Say which names can be looked for; folders: where folders can be."""
    return f"org/name, such as google-bert/bert-base-cased, or org/name@revision{folders}."


def folders(root: str) -> str:
    """Say which folders can be named; root: where they lie, "" where strangers share the page."""
    return f", or a folder under {root}" if root else ", or a folder of this server, by its name"


def parameters(*, count: int, limit: int) -> str:
    """Count the parameters beside the limit."""
    return f"Parameters: {count:,} (limit {limit:,})"


def attention_layers(*, count: int, limit: int) -> str:
    """Count the layers of attention beside the limit."""
    return f"Layers of attention: {count} (limit {limit})"


def download(*, size: int, limit: int) -> str:
    """Give the size of the download beside the limit."""
    return f"Download: {format_bytes(size)} (limit {format_bytes(limit)})"


def memory(*, size: int, dtype: str, limit: int) -> str:
    """Give the memory for the weights beside the limit."""
    return f"Memory for its weights: {format_bytes(size)} in {dtype} (limit {format_bytes(limit)})"


def recording(*, size: int, limit: int, tokens: int) -> str:
    """Give the size of a recording beside the limit."""
    return (
        f"Recording your text: at most {format_bytes(size)} "
        f"(limit {format_bytes(limit)}); of a longer one, at most {tokens:,} tokens"
    )


def recording_maps(*, size: int, tokens: int) -> str:
    """Give the size of a recording that keeps its maps."""
    return f"Where maps cannot be computed again and are kept: {format_bytes(size)}, and at most {tokens:,} tokens"


def so_you_see(*, model: str, chosen: str, whose: str) -> str:
    """Say which model is seen and why; whose: the text that it reads."""
    return f"{chosen}, so you see {model}{whose}."


def choose(*, model: str) -> str:
    """Name the button that chooses the model."""
    return f"Choose {model}"


def map_formula(*, formula: str) -> str:
    """Give the formula of a map's weights, and what its rows and columns are."""
    return f"{formula}: row = query, column = key, no unit."


def hidden_and_divided(*, normalised: bool) -> str:
    """Say what becomes of rows that are divided by what is left of them; normalised: they summed to 1 before."""
    again = " again" if normalised else ", which a sigmoid's rows need not"
    return f"Special tokens are hidden and each row is divided by what is left, so it sums to 1{again}."


def hidden_with_weight(*, smallest: float, largest: float) -> str:
    """Say what rows sum to where some keys are hidden."""
    return f"Special tokens are hidden with their weight: rows sum to {smallest:.3g} to {largest:.3g}."


def rows_with_sinks(*, smallest: float, largest: float) -> str:
    """Say what rows sum to where a part of each goes to a sink."""
    return (
        "A part of each row goes to what is no key of the text (a learned sink, or keys beside it): rows sum to "
        f"{smallest:.3g} to {largest:.3g}."
    )


def rows_of_a_sigmoid(*, smallest: float, largest: float) -> str:
    """Say what rows sum to where a sigmoid makes the weights."""
    return f"Each weight is made by itself, so rows need not sum to 1: here to {smallest:.3g} to {largest:.3g}."


def variant_summary(*, model: str) -> str:
    """Say what a model under other switches is."""
    return f"The weights of {model} in the own Transformer, under other switches."


def not_kept(*, size: int, most: int) -> str:
    """Say what it means that a recording is larger than the whole cache."""
    return (
        f"This recording takes {format_bytes(size)}, over the {format_bytes(most)} of "
        "HEADLIGHT_CACHE_MB: it is not kept, and every click reads the text again. Shorten the text, or raise that."
    )


def of_saved_trace(*, model: str) -> str:
    """Name the model of a saved trace."""
    return f"{model}, of the saved trace"


def only_given(*, so: str) -> str:
    """Say that a saved trace holds given weights alone; so: what that means for the page."""
    return f"Only attention weights were given, without their model, so {so}. {RECORD_TO_SEE}"


def model_not_at_hand(*, model: str, so: str) -> str:
    """Say that a saved trace came without its model; so: what that means for the page."""
    return f"The model {model} of this saved trace is not at hand, so {so}."


def offered(note: str) -> str:
    """Offer the model that the page would open with; note: that it is not here, its size, and what fetches it."""
    return f"{note} Load this page anew when it is fetched."
