"""The page Generate: page.py chooses a section, steps.py plays a text; cache.py and beam_search.py draw the others."""
