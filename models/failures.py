"""Errors as sentences: one rule for the page, the command line and the loaders of strangers' files.

A ValueError is a sentence already. Anything else was not foreseen: it is logged whole, and told in one line.

```python
with failures.told("Loading the model", instead="Choose another model."):
    load()
```
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from models.formatting import one_line


def is_failure(error: BaseException) -> bool:
    """Return True for a failure: any Exception, or a panic of a library in Rust, such as tokenizers or safetensors.

    A panic is no Exception, and the class has no name to import. KeyboardInterrupt and the ends of Streamlit's runs are
    neither, so they are no failures.
    """
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"


def sentence(error: BaseException, *, what: str, instead: str) -> str:
    """Say in one line that `what` failed with `error`, and what to do `instead`; a ValueError is a sentence already."""
    if type(error) is ValueError:
        return str(error)
    words = one_line(error)
    named = f"{type(error).__name__}: {words}" if words else type(error).__name__
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "memory" in words.lower()):  # torch's own
        return f"{what} takes more memory than there is ({named}). {instead}"
    return f"{what} failed in a way that Headlight does not know ({named}). {instead}"


@contextmanager
def told(what: str, *, instead: str) -> Iterator[None]:
    """Raise whatever fails in the block as a ValueError in a sentence, and log it whole.

    what: what is done in the block, the beginning of the sentence. instead: what the reader can do, a sentence.
    """
    try:
        yield
    except BaseException as error:
        if type(error) is ValueError or not is_failure(error):
            raise
        logging.getLogger(__name__).exception("%s failed", what)
        raise ValueError(sentence(error, what=what, instead=instead)) from error
