"""Two buttons that save a chart of the page, as the page draws it, as PNG and as SVG.

The data is no packed message but { "chart": key, "name": file name }: Streamlit hands it over as JSON.
"""
