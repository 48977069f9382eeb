"""A question's two minutes: a clock that can be paused, and a field for the reader's words, which the tab keeps."""
