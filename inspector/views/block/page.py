"""Block: the inside of a layer, from a token's state to what attention and FFN add to it."""

from inspector.views import sections

sections.show_page("block")
