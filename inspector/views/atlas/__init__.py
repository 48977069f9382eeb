"""The page Atlas: what every head of a model does over a corpus."""
