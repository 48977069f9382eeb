"""The Lab's tiny networks: experiments (the choices, without torch), words and puzzles (the tasks), solvers (the
networks), depth (their layers while they learn). models/training/lab.py trains two of them side by side.

```python
from models.training.tiny.experiments import Experiment

Experiment(task="reverse", steps=20).differences  # {"positions": ("sinusoidal", "none")}
```
"""
