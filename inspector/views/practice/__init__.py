"""The page Practice: what to write, hints, the solution and a small case; the reader's own machine runs the file."""
