"""The page Training: page.py shows a checkpoint's curves (curves.py) and replays its heads (replay.py, heads.py)."""
