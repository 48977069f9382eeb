"""Words of the frame around every page: the choice of a model, a stand-in, what was stopped, and files of a figure."""

from __future__ import annotations

from models.formatting import format_bytes

KNOWN_LATER = "How its attention is seen is known once it is loaded."
NOT_AT_HAND = "The model of this saved trace is not at hand"
ON_YOUR_TEXT = " on your text"
ENGLISH_EXAMPLE = ", on its own example: it has learned English, and your text is kept"
OWN_EXAMPLE = ", on its own example"
REMOVE_FIRST = "Remove the saved trace in the sidebar first."
FOR_ALL = "For all pages; your text stays."
STOPPED = "Stopped"
KEPT = "Your text and the finished part are kept; press Inspect to continue."
WITHOUT_PAGE = "The same numbers without the page:"
HIDE_HELP = "The weights of a row then sum to what is left."
OWN_SCALE_HELP = "Without it all maps share one colour scale."


def looking(*, hub: bool, hub_variable: str, no_folders: bool, root_variable: str) -> str:
    """Say what Look reads, and what is off here; hub_variable, root_variable: what switches it on."""
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
    """Say which model is seen and why; whose: on which text."""
    return f"{chosen}, so you see {model}{whose}."


def choose(*, model: str) -> str:
    """Name the button that chooses the model."""
    return f"Choose {model}"
