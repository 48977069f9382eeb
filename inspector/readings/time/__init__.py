"""Readings of the page Time: what its pictures show, as numbers."""
