"""The drawing in the browser, for any host: the page, an HTML file, a notebook. A folder holds a component.

Its index.js exports `draw(root, bytes, emit)`; the Python beside it makes the bytes.
"""
