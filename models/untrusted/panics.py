"""What a stranger's tokenizer throws, as one sentence.

The tokenizers library is Rust: where it gives up it panics, and Python sees a pyo3_runtime.PanicException, which is no
Exception, so it passes every `except Exception` and ends the thread. Call a stranger's tokenizer within `spoken`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from models.wording import said


@contextmanager
def spoken(what: str) -> Iterator[None]:
    """Turn all that a stranger's tokenizer throws, panics too, into a ValueError that begins with `what`.

    ValueErrors pass as they are, and so does what ends a program or a script (KeyboardInterrupt, SystemExit).
    """
    try:
        yield
    except ValueError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise ValueError(f"{what}: {said(error) or type(error).__name__}") from error


def is_panic(error: BaseException) -> bool:
    """Whether it comes from a panic in Rust; each library has a class of its own for them, of this name."""
    return type(error).__name__ == "PanicException" and type(error).__module__ == "pyo3_runtime"
