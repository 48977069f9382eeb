"""The page What if: page.py offers hide.py, swap.py and drop.py; before_after.py and predictions.py show the change."""
