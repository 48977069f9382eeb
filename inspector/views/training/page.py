"""Training: how the shipped models learned, from the files that their trainings left."""

from inspector.views import sections

sections.show_page("training")
