"""Time: how far a gradient reaches, and what runs one after another and what at once."""

from inspector.views import sections

sections.show_page("time")
