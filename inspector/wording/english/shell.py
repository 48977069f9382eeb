"""Words of the frame around every page: model and text, another model, a stand-in, progress, a link's faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from models.formatting import format_bytes

if TYPE_CHECKING:
    from models.loaded import Card

OTHER_LANGUAGE, OTHER_LANGUAGE_HELP = "中文", "Menus, sidebar, Questions and Practice in Chinese"
ENGLISH_ALONE = ""
"""The words behind a page's purpose where its content is not in the reader's language."""

# --- the sidebar ------------------------------------------------------------------------------------------------------

TRACE_IS_OPEN = "You see a saved trace. Remove its file below to read a text again. A link cannot hold a file."
OPEN_TRACE = "Open a saved trace"
TRACE_FILE, TRACE_FILE_HELP = "A trace saved as .npz", "Saved here or by inspector.save(trace, path)."
THAT_OF_TRACE = "that of the saved trace"
ANOTHER_MODEL = "Another model"
INSPECT = "Inspect"
EXAMPLES = "Examples"
TEXT, TEXT_HINT = "Text", "Paste a sentence"
SECOND_TEXT, SECOND_TEXT_HINT = "Second text (optional)", "A sentence to read beside the first"
TARGET, TARGET_HINT = "Target (optional)", "Left empty, the model writes its own"
WRITE_REPORT, SAVE_REPORT = "Write a report", "Save the report"
REPORT_HELP = "All that the pages' sections say of this text, in one HTML file to keep, send or print; read offline"

# --- another model ----------------------------------------------------------------------------------------------------

NAME, NAME_OR_FOLDER = "Name on the hub", "Name on the hub, or folder"
LOOK, LOOKING = "Look", "Looking"
LOAD, STOP, STARTING = "Load", "Stop", "Starting"
LOADING_TAKES_SECONDS = "Loading: this takes seconds"
ON_THIS_MACHINE = "On this machine"
FETCHING_STOPPED = "Stopped. Downloaded files are kept; press Load to continue."
CANNOT_BE_LOADED = "Cannot be loaded"

# --- all else ---------------------------------------------------------------------------------------------------------

CANNOT_BE_SHOWN = "Cannot be shown"
THIS_PAGE = "This page"
DISMISS = "Dismiss"
NONE = "none"
COLON, STOP_MARK, SPACE = ": ", ". ", " "
"""Marks between what is put together: a name and what it is, a heading and its sentence, two sentences."""


HUB_NAME, HUB_NAME_OR_FOLDER = "org/name or org/name@revision", "org/name, or a folder"
KNOWN_LATER = "How its attention is seen is known once it is loaded."
MODEL = "Model"
NOT_AT_HAND = "The model of this saved trace is not at hand"
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
UNTRAINED_AT_PICTURE = "Untrained: this model's weights are random, so what it shows means nothing."
NEW_STATISTICS = (
    "The mean and variance of its BatchNorm are those of the sidebar's text, taken in one pass: another text is "
    "another model."
)
WITH_NEW_STATISTICS = ", with your text's statistics"
THEN_CHANGED = ", then changed"
UNTRAINED, UNTRAINED_HELP = "Untrained", "Random weights: the maps mean nothing."
LOOKS_UNTRAINED = "Looks untrained"
HEADS_BY_CHANCE = "Every head spreads its attention on this text as random weights would."
NORMS_AS_DRAWN = (
    "Each of its norms has one gain for all dimensions and a bias of 0, to the last bit: random weights begin so, and "
    "training moves them. (A model whose gains were multiplied into its other weights looks so too.)"
)

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


def so_you_see(*, model: str, chosen: str | None, cannot: str, whose: str) -> str:
    """Say which model is seen and why.

    chosen: the reader's, None where that is not at hand; cannot: what it does not do; whose: the text that is read.
    """
    return f"{NOT_AT_HAND if chosen is None else f'{chosen} {cannot}'}, so you see {model}{whose}."


def choose(*, model: str) -> str:
    """Name the button that chooses the model."""
    return f"Choose {model}"


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


# --- names and cards --------------------------------------------------------------------------------------------------


def model(name: str) -> str:
    """Name a model, given its English name."""
    return name


def with_switches(name: str, changes: str) -> str:
    """Name a model under changed switches in a sentence."""
    return f"{name} with {changes}"


def of_side(name: str, side: str, changes: str) -> str:
    """Name a model under changed switches by its side."""
    return f"{name}, {side}: {changes}"


def summary(card: Card) -> str:
    """Say in some lines what a model is, before it is chosen."""
    return card.summary


def example(name: str) -> str:
    """Name an example, given its English name."""
    return name


def tokenizer(file: str | None) -> str:
    """Name the file of a model's tokenizer, None for a model without."""
    return f"Tokenizer: {'none' if file is None else f'`{file}`'}"


# --- progress ---------------------------------------------------------------------------------------------------------


def fetched(*, done: int, of: int) -> str:
    """Say how much of a download is here."""
    return f"{format_bytes(done)} of {format_bytes(of)}"


def step(work: str, *, unit: str, number: int, of: int) -> str:
    """Say how far a work is; unit: what is counted."""
    return f"{work}: {unit} {number} of {of}"


def starting(model: str) -> str:
    """Say that the server has just started, and what it loads."""
    return f"Loading PyTorch and {model}: the server has just started, and this takes some seconds"


def writing_report(*, done: int, sections: int) -> str:
    """Say how far the report is."""
    return f"Writing the report: section {min(done + 1, sections)} of {sections}"


# --- the link ---------------------------------------------------------------------------------------------------------


def too_long_for_link(*, characters: int, most: int) -> str:
    """Say that the texts are left out of the link."""
    return (
        f"The link restores the view but not the text: {characters:,} characters are more than the {most:,} that fit a "
        "link."
    )


def asks_for_model(*, model: str, instead: str) -> str:
    """Say that a link names a model that is not in the list."""
    return (
        f"The link asks for the model {model}, which is not in the list. It was not loaded: you see {instead} instead. "
        "To see what it would take and to load it, press Look in the sidebar under Another model."
    )


def asks_for(*, name: str, values: Sequence[str], but: str) -> str:
    """Say that a link asks for what there is not; but: the end of the sentence, which says what there is."""
    return f"The link asks for {name} {' and '.join(values)}{but}"


def out_of_range(*, first: object, last: object, but: str, shown: object) -> str:
    """Say which values there are; but: what else they must be; shown: what is shown instead."""
    return f"; they go from {first} to {last}{but}. You see {shown} instead."


def one_of(*, options: Sequence[str], shown: str) -> str:
    """Say which options there are."""
    return f"; it can be {', '.join(options)}. You see {shown} instead."


def some_of(*, options: Sequence[str], but: str) -> str:
    """Say which words there are; but: said in place of the options, where there are too many."""
    return but or f"; it can be {', '.join(options)}. You see all instead."


def true_or_false(*, shown: str) -> str:
    """Say that a switch is on or off."""
    return f"; it can be true or false. You see {shown} instead."


def at_most(*, characters: int, shown: str) -> str:
    """Say how long a text can be."""
    return f"; it has at most {characters} characters. You see {shown} instead."


def other_layers(*, layers: Sequence[int], said: Callable[[Sequence[int]], str], shown: int) -> str:
    """Say which layers there are; said: says so."""
    return f"; {said(layers)}. You see {shown} instead."


NO_OPTION = " is not one of the options; showing all."


def cannot_be_built(*, side: str, problem: str, model: str) -> str:
    """Say that the switches of a link do not fit."""
    return f"The link asks on side {side} for what cannot be built: {problem}. You see {model} as it is."


def back_to_lesson(title: str, step: int, of: int) -> str:
    """Label the way back to the open lesson."""
    return f"Back to the lesson: {title}, step {step} of {of}"
