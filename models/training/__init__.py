"""Training of the own Transformer: recipe -> tokenizer and batches -> loop -> checkpoint, card and replay."""
