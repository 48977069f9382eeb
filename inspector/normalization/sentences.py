"""Sentences that no reader wrote: what running statistics of another norm are taken from."""

from __future__ import annotations

SENTENCES = (
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
