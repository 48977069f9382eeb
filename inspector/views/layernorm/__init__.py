"""The page Norms: what each norm does to each token, and what another norm would do in its place."""
