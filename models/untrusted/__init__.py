"""Strangers' models and files, measured and filtered before anything is built from them.

    from pathlib import Path
    from models.untrusted.tokenizer import load_tokenizer
    load_tokenizer(Path("folder"))("The cat sat.")["input_ids"]

hub_id.py      the name of a model on the Hugging Face hub, validated
hub.py         a model on the hub: described from its config.json alone, then fetched; download.py, a single file
folders.py     a model in a local folder, described in the same way
candidates.py  a described model that is not loaded yet: its files, its size and the limits that it must keep
safe_config.py a config.json without code, kernels or numbers over the limits
size.py        parameters and memory, counted on the meta device before a weight is read

files.py       a regular file inside its folder, read once, no larger than expected; JSON of bounded depth
settings.py    the known fields of the small JSON files of a tokenizer, and the token ids of generation_config.json
tokenizer.py   a tokenizer, read by transformers from filtered copies alone
pipeline.py    the parts of a tokenizer.json: known kinds alone, with a bound on the output for any text
regexes.py     the regular expressions of published tokenizers
growth.py      a bound on how much longer a pipeline can make a text; charsmap.py bounds SentencePiece's table of
               replacements, and weight.py defines the length that is bounded
weights.py     a check that a loaded model's weights come from its files and are finite

A file can name other files, code and any number, so unknown fields are left out.
"""
