"""A server of the Model Context Protocol: the instrument as tools, which another program calls on stdin and stdout.

    python -m inspector.mcp

`tools` lists them, `arguments` checks what a stranger gives them, `instrument` holds the models and the recordings,
and `server` speaks the protocol through the official SDK, the package mcp. Nothing listens on the network. What a tool
gives is a document of `inspector.plain`: texts of readers, corpora and models are data in its fields.
"""
