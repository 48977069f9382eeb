"""A model of transformers, loaded safely, run and watched: its own attention goes through the seam."""
