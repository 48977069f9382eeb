"""Figures of the page Time."""
