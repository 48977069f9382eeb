"""The page Lab: page.py trains two small networks by ready.py, which takes presets.py, or by settings.py; results.py
shows what came."""
