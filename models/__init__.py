"""What is inspected: the project's own Transformer, and transformers models loaded safely."""

from models.registry import Card, LoadedModel, catalogue, load, own_implementation

__all__ = ["Card", "LoadedModel", "catalogue", "load", "own_implementation"]
