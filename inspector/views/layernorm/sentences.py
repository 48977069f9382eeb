"""The sentences of the section Another norm: examples of a ragged batch, and the others for running statistics."""

from __future__ import annotations

BATCHES = {
    "English": (
        "The cat sat on the mat because it was tired.\nYes.\nA dog barked.\n"
        "She sat by the river bank and wondered whether the bank would lend her the money.\nWho is there?"
    ),
    "Chinese": "猫坐在垫子上，因为它累了。\n好。\n狗叫了。\n她坐在河边，想着银行会不会借钱给她。\n谁在那里？",
    "One length": "The cat sat down.\nThe dog ran off.\nThe sun came out.\nThe rain went on.",
}
"""Sentences, a line each: their lengths differ, but for the last."""
FIRST = BATCHES["English"]
OTHERS = (
    "The train was late again.",
    "He opened the window and looked at the sea.",
    "Bread is made of flour, water and salt.",
    "Nobody knew where the key had gone.",
    "In winter the days are short and the nights are long.",
    "Please close the door.",
    "The river runs through three countries before it reaches the sea.",
    "I have never been to Paris.",
    "Her brother plays the piano.",
    "What time does the museum open?",
    "The mountain was covered with snow.",
    "They sold the house last year.",
    "A small boat lay on the beach.",
    "The teacher asked a question that no one could answer.",
    "It rained all day.",
    "My grandmother grows roses and beans in her garden.",
    "The law was changed in nineteen sixty.",
    "Light travels faster than sound.",
    "He counted his money twice.",
    "The soup is too hot to eat.",
    "Many birds fly south in autumn.",
    "The old bridge was closed for repairs.",
    "She wrote three letters and sent none of them.",
    "Stop!",
)
"""Other sentences, never the reader's: what running statistics are taken from."""
