"""The page Compare: page.py lays out two to four maps (panels.py), their difference and the distances of heads."""
