"""Files that a stranger wrote, measured and filtered before anything is built from them.

    from pathlib import Path
    from models.untrusted.tokenizer import load_tokenizer
    load_tokenizer(Path("folder"))("The cat sat.")["input_ids"]

files.py       a regular file inside its folder, read once, no larger than expected; JSON of bounded depth
settings.py    the known fields of the small JSON files of a tokenizer, and the token ids of generation_config.json
tokenizer.py   a tokenizer, read by transformers from filtered copies alone
pipeline.py    what a tokenizer.json may say: known parts, and bounds on what any text can make of them
regexes.py     the regular expressions of published tokenizers
growth.py      how much longer a pipeline can make a text; charsmap.py, by SentencePiece's table; weight.py, what counts
weights.py     whether a model's weights are those of its files, and numbers

A file can name other files, code and any number, so what is not known is left out.
"""
