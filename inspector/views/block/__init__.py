"""The page Block: the inside of a layer."""
