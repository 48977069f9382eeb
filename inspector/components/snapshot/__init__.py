"""Buttons that save a chart of the page, as the page draws it, as PNG and as SVG, or show it over the whole screen.

The data is no packed message but { "chart": key, "name": file name, "screen": words }: Streamlit hands it over as JSON.
"""
