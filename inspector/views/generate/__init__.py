"""The page Generate: page.py chooses its section; steps.py plays the steps of a text, cache.py and beam_search.py go on."""
