"""Readings of the page Tokens: what its pictures show, as numbers."""
