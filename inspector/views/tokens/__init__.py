"""The page Tokens: how a text becomes tokens, what BERT learns from them, and what to do with a long one."""
