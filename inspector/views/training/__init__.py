"""The page Training: how the shipped models learned."""
