"""Scores: what goes into the softmax of every head, what comes out of it, and how queries and keys are compared.

```python
loaded = models.load("minilm")
trace = inspector.record(loaded, "The cat sat on the mat.")
measure(trace)  # a row per head: Var(q . k) against d_k, entropy, saturation, ||J|| of the softmax
symmetry.measure(trace, stream="encoder")  # asymmetry of scores and of weights, the diagonal
ranks.measure(trace, stream="encoder")  # does q . k rank keys as cosine and distance do?
found = projections(trace, inspector.record_blocks(loaded, trace), loaded.network, layer=1, stream="encoder")
of_product(found.query[7], found.key[7])  # the spectrum of W_Q W_K^T of a head
```
"""

from inspector.scores import functions, ranks, symmetry, theory, weightings
from inspector.scores.distribution import ProductDistribution, distribution
from inspector.scores.logits import LayerScores, Moments, alone, layer_scores, measure
from inspector.scores.saturation import SATURATED, SaturationRows, jacobian_norm
from inspector.scores.spectrum import Projections, Spectrum, of_product, projections

__all__ = [
    "SATURATED",
    "LayerScores",
    "Moments",
    "ProductDistribution",
    "Projections",
    "SaturationRows",
    "Spectrum",
    "alone",
    "distribution",
    "functions",
    "jacobian_norm",
    "layer_scores",
    "measure",
    "of_product",
    "projections",
    "ranks",
    "symmetry",
    "theory",
    "weightings",
]
