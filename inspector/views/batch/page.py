"""Batch: several texts at once, padded, packed or one by one, and what that does to every number."""

from inspector.views import sections

sections.show_page("batch")
