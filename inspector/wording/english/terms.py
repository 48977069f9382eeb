"""The glossary: what each term of the page means, in two plain sentences."""

from __future__ import annotations

MEANINGS = {
    "attention": "For each token, the model decides how much to take from every other token it sees. These shares are "
    "its attention: they are 0 or more and add up to 1.",
    "head": "A head is one of several independent looks that a layer takes at the text. Each head has attention of its "
    "own, and the layer puts together what its heads found.",
    "layer": "A layer is one round of work on all tokens: attention first, then a small network for each token alone. "
    "Layers follow one another, and each reads what the one before it wrote.",
    "token": "A token is a piece of text that the model reads as one unit: a word, a part of a word, or a mark. "
    "The tokenizer cuts the text into tokens.",
    "query": "The query is the token that looks. It is a row of the map, and its shares add up to 1.",
    "key": "A key is a token that is looked at. It is a column of the map.",
    "[CLS]": "[CLS] is a token that the tokenizer puts before every text. It is no word: heads often rest on it when "
    "they find nothing to look for.",
    "[SEP]": "[SEP] is a token that the tokenizer puts behind every text. It is no word: heads often rest on it when "
    "they find nothing to look for.",
}
