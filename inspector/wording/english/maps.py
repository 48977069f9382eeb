"""Words at a map of weights: the formula with its numbers, what its rows sum to, its switches and its files."""

from __future__ import annotations

GIVEN_FORMULA = "$A$ as it was given"
WITHOUT_PAGE = "The same numbers without the page:"
HIDE_HELP = "The weights of a row then sum to what is left."
OWN_SCALE_HELP = "Without it all maps share one colour scale."
LINEAR_HELP = "Lets small weights fade; the numbers stay the same."
ROOT_HELP = "Makes small weights visible; the numbers stay the same."
TABLE_AS_CSV = "Table as CSV"
ROWS_OF_A_DECODER = "A row is named by the token read and the token predicted (→)."
KEYS_OF_THE_SOURCE = "Keys and values are the source text."
SINK_COLUMN = "The last column, (sink), has that part: with it each whole row sums to 1."
ROWS_SUM_TO_ONE = "Each row sums to 1."
MERGED = "To a word: the sum over its pieces; from a word: the mean (Clark et al. 2019, 4.1)."


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
