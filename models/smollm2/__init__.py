"""SmolLM2-135M-Instruct, a real model that writes, read in place from the file that `models.fetch` keeps.

`package` finds the file and holds it to its size and hash, `gguf` reads its layout, `tokenizer` and `network` make of
it what transformers runs. `network.load_runner(placement)` is the door.
"""
