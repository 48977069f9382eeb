"""A figure in large type, drawn in the page so that it has the page's typeface, with a button for the full screen.

The data is no packed message but { "svg": the picture, "words": the button's }: Streamlit hands it over as JSON.
"""
