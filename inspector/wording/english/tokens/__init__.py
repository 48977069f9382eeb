"""Sentences of the page Tokens."""
