"""The page Attention: page.py lays out the grid of all heads (all_heads.py) and the open head (open_head.py)."""
