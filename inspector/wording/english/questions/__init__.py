"""Sentences in English of the page Questions, of its printable sheet and of a teacher's path."""
