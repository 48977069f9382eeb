"""The page Time: how far a gradient reaches, and what runs one after another and what at once."""
