"""The page Questions: what people say of the Transformer, settled on the reader's text, in two languages."""
