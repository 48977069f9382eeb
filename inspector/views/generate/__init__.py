"""The page Generate: page.py writes a text and what the KV cache saves, steps.py plays its steps."""
