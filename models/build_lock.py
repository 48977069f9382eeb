"""One model is built at a time.

While transformers builds a model it patches its own classes (weight tying, the default dtype) and puts them back
afterwards: two threads that build at once put back each other's patches, and from then on no model of the process ties
its weights (transformers 5.23).
"""

from __future__ import annotations

from threading import RLock

LOADING = RLock()
