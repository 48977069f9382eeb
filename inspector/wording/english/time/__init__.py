"""Sentences of the page Time."""
