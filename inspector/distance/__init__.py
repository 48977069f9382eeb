"""Gradients over distance: how much an early token still moves the last state."""
