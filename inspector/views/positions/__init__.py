"""The page Positions: how a model knows the order of its tokens, and what it makes of it."""
