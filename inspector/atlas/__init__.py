"""Atlas: every head over a corpus of texts, exactly, in memory that does not grow with the corpus."""
