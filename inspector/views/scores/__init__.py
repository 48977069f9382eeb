"""The page Scores: what goes into the softmax of a head, and what comes out of it."""
