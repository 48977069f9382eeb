"""Two buttons that save a chart of the page, as it is drawn there, as PNG and as SVG.

The data is no packed message but { "chart": key, "name": file name }: Streamlit hands it over as JSON.
"""
