"""The page Lab: page.py trains two small Transformers by settings.py and presets.py; results.py shows what came."""
