"""Figures of the page Tokens."""
