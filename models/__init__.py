"""What is inspected: the project's own Transformer, and transformers models loaded safely."""

from models.loaded import Card, LoadedModel
from models.registry import catalogue, load, own_implementation

__all__ = ["Card", "LoadedModel", "catalogue", "load", "own_implementation"]
